import { type ChatMemoryStore, createChatMemories, createChatMemory, entry, user } from "@turnkeep/core";
import { historyOf } from "./history.ts";

const messagesEach = 100;
const atOnce = 50;
const workers = 32;

/**
 * Writes so many memories with 100 messages each, 32 at a time, reads them all back with other instances, and answers
 * the ids of those that hold anything but their own messages in their order, or show anything but the last 20.
 */
export async function mixedUp(store: ChatMemoryStore, count: number): Promise<string[]> {
  const run = crypto.randomUUID();
  const ids = Array.from({ length: count }, (_, index) => `${run} memory ${index}`);
  const policy = { window: { maxMessages: 20 }, timeoutMs: 300_000 };
  const memories = createChatMemories({ store, ...policy });
  await inParallel(ids, async (id) => {
    const memory = memories.get(id);
    const messages = said(id);
    for (let from = 0; from < messages.length; from += atOnce) {
      const next = messages.slice(from, from + atOnce);
      await memory.add(...next.map((text) => entry(user(text), { id: text })));
    }
  });
  const wrong: string[] = [];
  await inParallel(ids, async (id) => {
    const memory = createChatMemory({ id, store, ...policy });
    const history = await historyOf(memory);
    const shown = (await memory.messages()).map(({ content }) => String(content));
    const expected = said(id);
    if (history.join() !== expected.join() || shown.join() !== expected.slice(-20).join()) wrong.push(id);
  });
  return wrong;
}

function said(id: string): string[] {
  return Array.from({ length: messagesEach }, (_, index) => `${id} message ${index}`);
}

async function inParallel(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const waiting = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await work(id);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
