import { type ChatMemoryStore, createChatMemory } from "@turnkeep/core";
import { appendTo, recorded } from "./operations.ts";

/** What a writing process is told, as JSON in its first argument. */
export interface WriterTask {
  readonly url: string;
  readonly memoryId: string;
  /** The name of this client; its messages are `<client>-1` and so on. */
  readonly client: string;
  readonly adds: number;
  /** Where it records its operations. */
  readonly log: string;
}

/** Makes all adds at once and ends when all have been acknowledged. Its exit status is 1 if one failed. */
export async function runWriter(openStore: (url: string) => Promise<ChatMemoryStore>): Promise<void> {
  const { url, memoryId, client, adds, log } = JSON.parse(process.argv[2] ?? "") as WriterTask;
  const store = await openStore(url);
  // Others write to the same memory as fast as this one: how often it must begin again is theirs to say.
  const memory = createChatMemory({
    id: memoryId,
    store,
    window: { maxMessages: 20 },
    timeoutMs: 600_000,
  });
  const { add } = recorded(client, memory, appendTo(log));
  const ids = Array.from({ length: adds }, (_, index) => `${client}-${index + 1}`);
  await Promise.all(ids.map((id) => add(id)));
  await store.close();
}
