import type { MessageState, StoredMessage } from "@turnkeep/core";
import { type FoldedUpdate, isInPlace, namedSeqs, storedRows, storeError } from "@turnkeep/core/store-kit";
import { changeOf, type DocumentChange } from "./changes.ts";
import type { Run } from "./client.ts";
import { expired, type MemoryDocument, smallestApart, states } from "./documents.ts";
import {
  bytesOf,
  entriesOf,
  entryOf,
  freshId,
  idOf,
  isDamaged,
  type LocatedMessage,
  overridden,
  referenceTo,
  rowOf,
} from "./records.ts";
import { storeName } from "./refusals.ts";
import { hasItsRows, removeLife, settle } from "./staging.ts";
import * as statements from "./statements.ts";

/** How often a write is retried at the same version: others may settle or sweep meanwhile. */
const maxTries = 20;

/** In bytes: a message above the first is stored apart, and so are those of an update beyond the second in all. */
const largestInside = 16 * 1024;
const largestUpdateInside = 64 * 1024;

/** An update of more messages writes the document's maps whole: the server searches them from the start for each path. */
const mostPaths = 1000;

/** Applies an update by one command. Rows for messages that are stored apart are staged before it. */
export async function applyUpdate(
  run: Run,
  memoryId: string,
  update: FoldedUpdate,
  ofStore: statements.Times,
): Promise<void> {
  const { expected, insert, replaced, ttlMs = ofStore.ttlMs } = update;
  const times = { ...ofStore, ttlMs: ttlMs ?? undefined };
  const named = namedSeqs(update);
  const apart = apartOf([...insert, ...replaced.filter(({ state }) => state !== "removed")]);
  // An update that begins a memory cannot name a stored message: one that does is refused below.
  const isMany = expected !== null && insert.length + named.length > mostPaths;
  // Where one stands that has left memory only a read tells.
  const isLive = replaced.every(({ was }) => was === undefined);
  const isPlain = !isMany && apart.length === 0 && isLive && (expected !== null || named.length === 0);
  if (isPlain && (await run(statements.write(changeOf(memoryId, update), times)))) return;
  for (let tries = 1; tries <= maxTries; tries++) {
    const name = freshId();
    const announced = apart.length > 0 ? await run(statements.announce(memoryId, expected, name)) : null;
    const memory = announced ?? (await run(statements.ledger(memoryId)));
    const messages = memory === null ? new Map<number, LocatedMessage>() : await findIn(run, memory, named);
    if (messages === undefined) continue;
    const stored = Array.from(messages.values(), (one) => ({ ...one, id: idOf(one) }));
    if (isInPlace(memoryId, update, memory?.version ?? null, storedRows(memory?.next ?? 1, stored))) return;
    // No memory is there, and yet it could not begin: an expired one occupies its place.
    if (memory === null) await removeLife(run, { _id: memoryId, ...expired });
    if (apart.length > 0 && announced === null) continue;
    const isWhole = isMany || named.flatMap((seq) => messages.get(seq) ?? []).some(isDamaged);
    const rows = announced === null ? [] : apart.map((one) => rowOf(announced, one.seq, entryOf(one)));
    if (rows.length > 0) await run(statements.insert(rows));
    const change = changeOf(memoryId, update, {
      attempt: announced === null ? undefined : name,
      generation: announced === null && !isWhole ? undefined : memory?.generation,
      isWhole,
      messages,
      references: new Map(rows.map((row) => [row.seq, referenceTo(row)])),
    });
    if (await run(statements.write(change, times))) return settleQuietly(run, memory, change);
    // Nobody has seen these rows; the next write or `sweep` deletes what is not deleted now.
    if (announced !== null) await run(statements.discard(announced.life, rows)).catch(() => {});
  }
  throw storeError(storeName, new Error("Sweeps undid the update each time before it was written"));
}

/** The update is in place. Anything not settled now is invisible; the next write or `sweep` settles it. */
async function settleQuietly(
  run: Run,
  memory: MemoryDocument | null,
  { attempt, trash }: DocumentChange,
): Promise<void> {
  if (memory === null) return;
  const others = memory.staging.filter((name) => name !== attempt);
  const leftOver = [...trash, ...others, ...memory.trash];
  if (memory.tooLarge || leftOver.length > 0) await settle(run, memory._id, memory.life).catch(() => {});
}

/** Those of the messages that the memory holds, inside its document or beside it. `undefined`: read it again. */
async function findIn(
  run: Run,
  memory: MemoryDocument,
  seqs: readonly number[],
): Promise<Map<number, LocatedMessage> | undefined> {
  const inside = entriesOf(memory, states);
  const except = overridden(memory, inside);
  const messages = new Map<number, LocatedMessage>(inside.map((one) => [one.seq, one]));
  const absent = seqs.filter((seq) => !messages.has(seq));
  if (absent.length === 0 || memory.generation === 0) return messages;
  const filter = { life: memory.life, seq: { $in: absent }, state: { $ne: "staged" }, _id: { $nin: except } };
  const rows = await run(statements.rows(filter, { hint: "seq", projection: { p: 0, m: 0 } }));
  for (const row of rows) {
    messages.set(row.seq, { seq: row.seq, state: row.state as MessageState, entry: referenceTo(row) });
  }
  return rows.length === absent.length || (await hasItsRows(run, memory)) ? messages : undefined;
}

/** Which messages of an update are stored apart. */
function apartOf(contents: readonly StoredMessage[]): StoredMessage[] {
  let room = largestUpdateInside;
  return contents.filter((message) => {
    const bytes = bytesOf(entryOf(message));
    if (bytes <= smallestApart) return false;
    if (bytes > largestInside || bytes > room) return true;
    room -= bytes;
    return false;
  });
}
