import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

type Route = (request: Request) => Promise<Response>;

export interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

/** A route behind a real server, as a framework would put it there. */
export async function serve(route: Route, failures: unknown[] = []): Promise<Served> {
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const response = await route(requestOf(incoming, outgoing)).catch((error: unknown) => {
      failures.push(error);
      return new Response("Failed.", { status: 500 });
    });
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    const body = response.body === null ? [] : Readable.fromWeb(response.body as never);
    await pipeline(body, outgoing).catch((error: unknown) => {
      // The browser may have gone.
      if (!outgoing.destroyed) failures.push(error);
    });
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api/chat`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const { method = "GET" } = incoming;
  return new Request(`http://localhost${incoming.url}`, {
    method,
    headers: incoming.headers as Record<string, string>,
    signal: gone.signal,
    ...(method === "POST" && { body: Readable.toWeb(incoming) as never, duplex: "half" }),
  });
}
