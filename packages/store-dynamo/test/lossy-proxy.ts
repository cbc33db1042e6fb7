import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** Stands between a client and a DynamoDB Local, and loses what it is told to. */
export interface LossyProxy {
  /** For `dynamoStore`. */
  readonly url: string;
  /** The operations of all requests that arrived here, in their order. */
  readonly requests: string[];
  /** The next request of that operation is served, then comes `meanwhile`, then the connection breaks without an answer. */
  loseAnswer(operation: string, meanwhile?: () => Promise<unknown>): void;
  /** The next request of that operation never arrives; after `meanwhile` the connection breaks. */
  loseRequest(operation: string, meanwhile?: () => Promise<unknown>): void;
  /** The next request of that operation is throttled. */
  throttle(operation: string): void;
  /** From now on nothing comes back on the connections that are open now; new ones work. */
  freeze(): void;
}

interface Loss {
  readonly operation: string;
  readonly isServed?: boolean;
  readonly isThrottled?: boolean;
  readonly meanwhile?: (() => Promise<unknown>) | undefined;
}

const throttling = JSON.stringify({ __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException" });

/** Stopped when the test is done. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const requests: string[] = [];
  const losses: Loss[] = [];
  const sockets = new Set<Socket>();
  const frozen = new Set<Socket>();

  async function served({ method, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const onward = request(new URL(target).origin, { method, headers });
    onward.end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    return answer;
  }

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const operation = String(incoming.headers["x-amz-target"]).split(".")[1] ?? "";
    requests.push(operation);
    if (frozen.has(incoming.socket)) return;
    const index = losses.findIndex((loss) => loss.operation === operation);
    const [loss] = index === -1 ? [] : losses.splice(index, 1);
    if (loss?.isThrottled) {
      outgoing.writeHead(400, { "content-type": "application/x-amz-json-1.0" }).end(throttling);
      return;
    }
    const answer = loss?.isServed === false ? undefined : await served(incoming, body);
    const text = answer && (await buffer(answer));
    await loss?.meanwhile?.();
    if (loss !== undefined || answer === undefined) incoming.socket.resetAndDestroy();
    else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://local:local@127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    throttle: (operation) => void losses.push({ operation, isThrottled: true }),
    freeze() {
      for (const socket of sockets) frozen.add(socket);
    },
    loseAnswer: (operation, meanwhile) => void losses.push({ operation, isServed: true, meanwhile }),
    loseRequest: (operation, meanwhile) => void losses.push({ operation, isServed: false, meanwhile }),
  };
}
