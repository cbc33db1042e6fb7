import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

/** What a server answers: a value as JSON, text as it is, or events of a stream, each sent by itself. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  readonly pieces?: readonly string[];
  /** The connection breaks off behind what was sent. */
  readonly breaksOff?: boolean;
}

export interface ModelServer {
  readonly url: string;
  /** Every request, in order. */
  readonly received: Received[];
  stop(): Promise<void>;
}

/** A server on a free port of this machine. */
export async function startServer(
  reply: (request: Received) => Reply | Promise<Reply>,
): Promise<ModelServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { url: path = "", headers } = request;
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const entry = { path, headers, body };
    received.push(entry);
    const {
      status = 200,
      headers: more = {},
      json,
      text: plain,
      pieces,
      breaksOff = false,
    } = await reply(entry);
    const type =
      pieces !== undefined ? "text/event-stream" : json !== undefined ? "application/json" : "text/plain";
    response.writeHead(status, { "content-type": type, ...more });
    for (const piece of pieces ?? []) {
      // Each by itself, so that a client gets the stream in parts.
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    }
    if (breaksOff) response.destroy();
    else response.end(json === undefined ? plain : JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
