import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { chatHandler } from "@turnkeep/ai-sdk";
import { createChatMemories } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { sqliteStore } from "@turnkeep/store-sqlite";
import type { UIMessage } from "ai";
import Database from "libsql";
import { modelOf } from "./models.ts";

// A process that serves a chat over a file, whose model never ends its answer. It prints where.
const [, , file = ""] = process.argv;
const memories = createChatMemories({
  store: sqliteStore({ client: new Database(file) }),
  format: uiMessageFormat<UIMessage>(),
});
const { model } = modelOf([
  async function* () {
    yield { type: "text-start", id: "1" };
    yield { type: "text-delta", id: "1", delta: "One, " };
    await new Promise(() => undefined);
  },
]);
const handler = chatHandler({ memories, owner: () => "ann", model });
const server = createServer(async (incoming, outgoing) => {
  const response = await handler(
    new Request(`http://localhost${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: incoming.headers as Record<string, string>,
      ...(incoming.method === "POST" && { body: Readable.toWeb(incoming) as never, duplex: "half" }),
    }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const chunk of response.body ?? []) outgoing.write(chunk);
  outgoing.end();
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}/api/chat\n`);
});
