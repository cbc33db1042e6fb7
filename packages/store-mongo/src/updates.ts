import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import {
  checkAgainstStored,
  conflictError,
  foldUpdate,
  isPlain,
  namedSeqs,
  storedRows,
  storeError,
} from "@turnkeep/core/store-kit";
import * as changes from "./changes.ts";
import { type Run, storeName } from "./client.ts";
import { batch, type FoundRows, type MemoryDocument, smallestApart, type Written } from "./documents.ts";
import { entriesOf } from "./records.ts";
import { bytesOf, entryOf, freshId, overridden, referenceTo, rowOf, settle } from "./staging.ts";
import * as statements from "./statements.ts";

/** How often a write is tried again at the same version: others may settle or sweep meanwhile. */
const maxTries = 20;

/** In bytes: a message above the first stands apart, and so do those of one update beyond the second together. */
const largestInside = 16 * 1024;
const largestUpdateInside = 64 * 1024;

/**
 * Applies a checked update that nobody changes meanwhile: by one command, behind rows that were staged before it where
 * messages stand apart. Errors: as the contract names them.
 */
export async function applyUpdate(
  run: Run,
  memoryId: string,
  update: MemoryUpdate,
  ttlMs: number | undefined,
): Promise<void> {
  const { expected, version } = update;
  const folded = foldUpdate(update);
  const pending = { memoryId, update, folded, ttlMs, entryOf };
  const apart = apartOf([...folded.insert, ...folded.rewrite]);
  const isLean =
    expected !== null && apart.length === 0 && isPlain(folded) && folded.setState.length <= batch;
  if (isLean && (await run(changes.append(pending)))) return;
  let found: FoundRows = new Map();
  for (let tries = 1; tries <= maxTries; tries++) {
    // What the lean command refused is looked at first.
    const written = isLean && tries === 1 ? null : await attempt(run, pending, apart, found);
    if (written?.version === version) return settleQuietly(run, memoryId, written);
    const memory = await run(statements.ledger(memoryId));
    if (memory?.version === version) return;
    if ((memory?.version ?? null) !== expected) throw conflictError(memoryId, expected);
    found = await foundRows(run, memory, pending);
  }
  throw storeError(storeName, new Error("Sweeps undid the update each time before it was written"));
}

/** `null`: the memory was not as the update expects, or the attempt was revoked meanwhile. */
async function attempt(
  run: Run,
  pending: changes.Pending,
  apart: readonly StoredMessage[],
  found: FoundRows,
): Promise<Written | null> {
  const { memoryId, update, folded } = pending;
  const { expected, version } = update;
  // A memory that begins has nothing that could be changed.
  if (expected === null && namedSeqs(folded).length > 0) return null;
  if (apart.length === 0) {
    return run(expected === null ? changes.begin(pending, freshId()) : changes.change(pending, found));
  }
  const attempt = freshId();
  const opened = await run(statements.open(memoryId, expected, attempt));
  if (opened === null) return null;
  const { life = attempt } = opened;
  const staged = { memory: memoryId, life, attempt };
  const rows = apart.map((message) => rowOf(message.seq, entryOf(message), staged));
  await run(statements.insert(rows));
  const references = new Map(rows.map((row) => [row.seq, referenceTo(row)]));
  const placed: changes.Pending = {
    ...pending,
    attempt,
    entryOf: (message) => references.get(message.seq) ?? entryOf(message),
  };
  const written = await run(expected === null ? changes.begin(placed, life) : changes.change(placed, found));
  // Nobody has seen the rows; the next write or sweep deletes what is not deleted now.
  if (written?.version !== version) {
    await run(statements.discard(rows.map(({ _id }) => _id))).catch(() => {});
  }
  return written;
}

/** The update is in place. What is not settled now shows nowhere, and the next write or `sweep` settles it. */
async function settleQuietly(run: Run, memoryId: string, { life, unsettled }: Written): Promise<void> {
  if (unsettled && life !== undefined) await settle(run, memoryId, life).catch(() => {});
}

/** The rows of messages that an update names and the document does not have. `INVALID_OPTION` if there are none. */
async function foundRows(
  run: Run,
  memory: MemoryDocument | null,
  { memoryId, update, folded }: changes.Pending,
): Promise<FoundRows> {
  if (memory === null) {
    checkAgainstStored(memoryId, update, storedRows(1, []));
    return new Map();
  }
  const entries = entriesOf(memory, ["live", "left"]);
  const inside = new Set(entries.map(({ seq }) => seq));
  const absent = namedSeqs(folded).filter((seq) => !inside.has(seq));
  const found =
    absent.length === 0 ? [] : await run(statements.find(memory.life ?? "", absent, overridden(memory)));
  const named = [...entries.map(({ entry, seq, state }) => ({ i: entry.i, seq, state })), ...found];
  const stored = named.map(({ i: id, seq, state }) => ({ id, seq, state }));
  checkAgainstStored(memoryId, update, storedRows(memory.next ?? 1, stored));
  return new Map(found.map((row) => [row.seq, row]));
}

/** Which messages of an update stand apart. */
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
