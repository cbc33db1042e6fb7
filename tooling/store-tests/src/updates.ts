import { randomUUID } from "node:crypto";
import { type ChatMemoryStore, isTurnkeepError, type MemoryUpdate, type StoredMessage } from "@turnkeep/core";

/** A change of a memory; what is left out is empty. `version` is fresh unless it is given. */
export function update(
  expected: string | null,
  nextSeq: number,
  change: Partial<MemoryUpdate> = {},
): MemoryUpdate {
  return { expected, version: randomUUID(), nextSeq, append: [], replace: [], move: [], ...change };
}

/** `m<seq>`, a second's thousandth after the one before it. */
export function message(seq: number, payload: string = `{"n":${seq}}`): StoredMessage {
  return { id: `m${seq}`, seq, createdAt: 1_700_000_000_000 + seq, payload };
}

/** Both ends included. */
export function messages(from: number, to: number): StoredMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => message(from + index));
}

/** Begins a memory of three messages; answers its version. */
export async function begin(store: ChatMemoryStore, memoryId: string, owner?: string): Promise<string> {
  const first = update(null, 4, { owner, append: messages(1, 3) });
  await store.updateMessages(memoryId, first);
  return first.version;
}

/** Reads a memory and makes this change of it; without an `append` of its own it appends one message. Answers the version. */
export async function change(
  store: ChatMemoryStore,
  memoryId: string,
  what: Partial<MemoryUpdate> = {},
): Promise<string> {
  const { version, nextSeq } = await store.getMessages(memoryId);
  const next = update(version, nextSeq + 1, { append: [message(nextSeq)], ...what });
  await store.updateMessages(memoryId, next);
  return next.version;
}

/** Reads, appends one message to what it read, and begins again whenever somebody else was faster. */
export async function appendUntilDone(store: ChatMemoryStore, memoryId: string, id: string): Promise<void> {
  for (;;) {
    const { version, nextSeq } = await store.getMessages(memoryId);
    const append = [{ ...message(nextSeq), id }];
    try {
      return await store.updateMessages(memoryId, update(version, nextSeq + 1, { append }));
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    }
  }
}
