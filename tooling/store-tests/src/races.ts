import { randomUUID } from "node:crypto";
import type { ChatMemoryStore } from "@turnkeep/core";
import { expect } from "vitest";
import { idsOf, newestOf } from "./lists.ts";
import { appendUntilDone, begin, message, messages, update } from "./updates.ts";

/** So many appends by two clients at once all land, once and in one order. Answers the ids of their messages. */
export async function expectAppendsToLand(
  one: ChatMemoryStore,
  other: ChatMemoryStore,
  memoryId: string,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `message ${index}`);
  await Promise.all(ids.map((id, index) => appendUntilDone(index % 2 === 0 ? one : other, memoryId, id)));
  const [seen, alsoSeen] = await Promise.all([one, other].map((store) => store.getMessages(memoryId)));
  expect(seen).toEqual(alsoSeen);
  expect(seen?.messages.map(({ id }) => id).sort()).toEqual(ids.sort());
  expect(seen?.messages.map(({ seq }) => seq)).toEqual(ids.map((_, index) => index + 1));
  return ids;
}

/** While updates each put four messages in the place of four others, who leave, readers meet all of an update or none. */
export async function expectWholeUpdates(
  writer: ChatMemoryStore,
  reader: ChatMemoryStore,
  { updates, to }: { readonly updates: number; readonly to: "evicted" | "removed" },
): Promise<void> {
  const memoryId = randomUUID();
  let writing = true;
  const write = async (): Promise<void> => {
    let version: string | null = null;
    for (let from = 1; from <= 4 * updates; from += 4) {
      const leaving = from === 1 ? [] : messages(from - 4, from - 1);
      const change = update(version, from + 4, {
        head: `${from}`,
        append: messages(from, from + 3),
        move: leaving.map(({ seq }) => ({ seq, to })),
      });
      await writer.updateMessages(memoryId, change);
      version = change.version;
    }
  };
  const read = async (): Promise<void> => {
    while (writing) {
      const { head, messages: seen } = await reader.getMessages(memoryId);
      if (head !== undefined)
        expect(seen.map(({ seq }) => seq)).toEqual([0, 1, 2, 3].map((n) => Number(head) + n));
    }
  };
  const written = write().finally(() => {
    writing = false;
  });
  await Promise.all([written, read(), read()]);
}

/** Of an append and two changes of owner at once one is in place, and the lists follow it. Answers the owner. */
export async function expectOneOwner(store: ChatMemoryStore, memoryId: string): Promise<string> {
  const expected = await begin(store, memoryId, "guest");
  const outcomes = await Promise.allSettled([
    store.updateMessages(memoryId, update(expected, 5, { append: [message(4)] })),
    store.updateMessages(memoryId, update(expected, 4, { owner: "ann" })),
    store.updateMessages(memoryId, update(expected, 4, { owner: "bob" })),
  ]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const { owner = "" } = await store.getMessages(memoryId);
  for (const one of ["guest", "ann", "bob"]) {
    expect((await idsOf(store, { owner: one })).includes(memoryId)).toBe(one === owner);
    expect((await newestOf(store, { owner: one })).includes(memoryId)).toBe(one === owner);
  }
  return owner;
}
