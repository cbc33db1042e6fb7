import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Redis } from "ioredis";

/** An HTTP server that speaks as much of Upstash's REST protocol as a store uses, before a real Redis. */
export interface RestServer {
  readonly url: string;
  readonly token: string;
  /** The names of the commands that have arrived. */
  readonly commands: string[];
  /** Serves the next command and cuts the connection when it is to be answered. */
  loseAnswer(): void;
  stop(): Promise<void>;
}

export async function startRestServer(redis: Redis): Promise<RestServer> {
  const token = "t0ken";
  const commands: string[] = [];
  let losesAnswer = false;
  const server = createServer(async (request, response) => {
    const [command = "", ...args] = JSON.parse(await bodyOf(request)) as [string, ...string[]];
    commands.push(command);
    const isAllowed = request.headers.authorization === `Bearer ${token}`;
    const answer = isAllowed
      ? redis.call(command, args).then(
          (result) => ({ result: encoded(result) }),
          (error: Error) => ({ error: error.message }),
        )
      : { error: "WRONGPASS invalid or missing auth token" };
    const said = await answer;
    if (losesAnswer) {
      losesAnswer = false;
      response.destroy();
      return;
    }
    response.statusCode = "result" in said ? 200 : 400;
    response.end(JSON.stringify(said));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    commands,
    loseAnswer() {
      losesAnswer = true;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** The client asks for texts in base64, except the answer of commands that succeed. */
function encoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encoded);
  return typeof value === "string" && value !== "OK" ? Buffer.from(value).toString("base64") : value;
}
