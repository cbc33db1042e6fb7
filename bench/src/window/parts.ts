import { createChatMemory, inMemoryStore, type ModelMessage, modelMessageFormat } from "@turnkeep/core";
import { median } from "../measure.ts";
import type { Cell, Table } from "../report/table.ts";
import type { Conversation } from "./contenders.ts";

/** What our time consists of, message by message, without contenders between. */
export async function partsOf(
  { messages, maxTokens, count }: Conversation,
  following: readonly ModelMessage[],
): Promise<Table> {
  const store = inMemoryStore();
  let counting = 0;
  const counter = {
    name: "o200k",
    count(message: unknown) {
      const began = performance.now();
      const tokens = count(message as ModelMessage);
      counting += performance.now() - began;
      return tokens;
    },
  };
  const memory = createChatMemory({ id: "conversation", store, window: { maxTokens, counter } });
  await memory.add(...messages.slice(0, 1_000));
  const times = { add: [], count: [], codec: [], read: [], store: [] } as Record<string, number[]>;
  const timed = async (part: string, run: () => unknown): Promise<void> => {
    const began = performance.now();
    await run();
    times[part]?.push(performance.now() - began);
  };
  for (const message of following) {
    counting = 0;
    await timed("add", () => memory.add(message));
    times.count?.push(counting);
    await timed("read", () => memory.messages());
    await timed("store", () => store.getMessages("conversation"));
    await timed("codec", () => modelMessageFormat.decode(modelMessageFormat.encode(message)));
  }
  const row = (what: string, part: string): Cell[] => [what, median(times[part] ?? [])];
  return {
    title: "What ours consists of, ms, median",
    columns: ["part", "ms"],
    rows: [
      row("adding: check, copy, count, plan, write to the store", "add"),
      row("  of which counting", "count"),
      row("  of which checking and copying (its encoding and decoding)", "codec"),
      row("reading: from the store, then the view", "read"),
      row("  of which the store", "store"),
    ],
  };
}
