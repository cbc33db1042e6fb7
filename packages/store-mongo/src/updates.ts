import type { MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import {
  checkAgainstStored,
  conflictError,
  type FoldedUpdate,
  foldUpdate,
  storeError,
} from "@turnkeep/core/store-kit";
import { type Changes, isAppend } from "./changes.ts";
import { storeName } from "./client.ts";
import {
  type Entry,
  type FoundRow,
  type MemoryDocument,
  type RowDocument,
  smallestApart,
  type Written,
} from "./documents.ts";
import { entriesOf } from "./records.ts";
import { bytesOf, freshId, type Run, rowOf, rowsOf, settle, trashOf } from "./staging.ts";
import type { Statements } from "./statements.ts";

/** How often a write is tried again at the same version: others may settle or sweep meanwhile. */
const maxTries = 20;

/** In bytes: a message above the first stands apart, and so do those of one update beyond the second together. */
const largestInside = 16 * 1024;
const largestUpdateInside = 64 * 1024;

/** An update, with what it comes to. */
interface Pending {
  readonly memoryId: string;
  readonly update: MemoryUpdate;
  readonly folded: FoldedUpdate;
  /** The messages that stand apart, each in a row of its own. */
  readonly apart: readonly StoredMessage[];
}

/** Makes updates: by one command, behind rows that were staged before it where messages stand apart. */
export class Updates {
  readonly #docs: Statements;
  readonly #changes: Changes;

  constructor(docs: Statements, changes: Changes) {
    this.#docs = docs;
    this.#changes = changes;
  }

  /** Applies a checked update that nobody changes meanwhile. Errors: as the contract names them. */
  async apply(run: Run, memoryId: string, update: MemoryUpdate): Promise<void> {
    const { expected, version } = update;
    const folded = foldUpdate(update);
    const pending = { memoryId, update, folded, apart: apartOf([...folded.insert, ...folded.rewrite]) };
    const isLean = expected !== null && pending.apart.length === 0 && isAppend(folded);
    if (isLean && (await run(this.#changes.append(memoryId, update, folded, entryOf)))) return;
    let found: ReadonlyMap<number, FoundRow> = new Map();
    for (let tries = 1; tries <= maxTries; tries++) {
      // What the lean command refused is looked at first.
      const written = isLean && tries === 1 ? null : await this.#attempt(run, pending, found);
      if (written?.version === version) return this.#settleQuietly(run, memoryId, written);
      const memory = await run(this.#docs.ledger(memoryId));
      if (memory !== null && memory.version === version) return;
      if ((memory?.version ?? null) !== expected) throw conflictError(memoryId, expected);
      found = await this.#foundRows(run, memory, pending);
    }
    throw storeError(storeName, new Error("Sweeps undid the update each time before it was written"));
  }

  /** `null`: the memory was not as the update expects, or the attempt was revoked meanwhile. */
  async #attempt(
    run: Run,
    { memoryId, update, folded, apart }: Pending,
    found: ReadonlyMap<number, FoundRow>,
  ): Promise<Written | null> {
    const { expected, version } = update;
    const begins = expected === null;
    // A memory that begins has nothing that could be changed.
    if (begins && folded.rewrite.length + namedBy(folded).length > 0) return null;
    const attempt = apart.length === 0 ? undefined : freshId();
    const life = begins
      ? (attempt ?? freshId())
      : attempt === undefined
        ? ""
        : await this.#lifeOf(run, memoryId);
    const rows: RowDocument[] = [];
    if (attempt !== undefined) {
      if ((await run(this.#docs.open(memoryId, expected, attempt))) === null) return null;
      for (const message of apart) rows.push(rowOf(message, { memory: memoryId, life, attempt }));
      await run(this.#docs.insert(rows));
    }
    const placed = entriesIn(rows);
    const written = await run(
      begins
        ? this.#changes.begin(memoryId, update, folded.insert, placed, life, attempt)
        : this.#changes.change(memoryId, update, folded, placed, found, attempt),
    );
    // Nobody has seen the rows; the next write or sweep deletes what is not deleted now.
    if (written?.version !== version && rows.length > 0)
      await run(this.#docs.discard(rows.map(({ _id }) => _id))).catch(() => {});
    return written;
  }

  async #lifeOf(run: Run, memoryId: string): Promise<string> {
    return (await run(this.#docs.peek(memoryId)))?.life ?? "";
  }

  /** The update is in place. What is not settled now shows nowhere, and the next write or `sweep` settles it. */
  async #settleQuietly(run: Run, memoryId: string, { life, unsettled }: Written): Promise<void> {
    if (unsettled && life !== undefined) await settle(run, this.#docs, memoryId, life).catch(() => {});
  }

  /** The rows of messages that a move names and the document does not have. `INVALID_OPTION` if there are none. */
  async #foundRows(
    run: Run,
    memory: MemoryDocument | null,
    { memoryId, update, folded }: Pending,
  ): Promise<ReadonlyMap<number, FoundRow>> {
    const entries = new Map<number, { id: string; state: MessageState }>();
    const rows = new Map<number, FoundRow>();
    if (memory !== null) {
      for (const { seq, state, entry } of entriesOf(memory, ["live", "left"]))
        entries.set(seq, { id: entry.i, state });
      const absent = namedBy(folded).filter((seq) => !entries.has(seq));
      const except = [...rowsOf(memory), ...trashOf(memory)];
      const found = absent.length === 0 ? [] : await run(this.#docs.find(memory.life ?? "", absent, except));
      for (const row of found) rows.set(row.seq, row);
    }
    checkAgainstStored(memoryId, update, {
      nextSeq: memory?.next ?? 1,
      find: (seq) => entries.get(seq) ?? rows.get(seq),
    });
    return rows;
  }
}

/** The messages that an update moves without a new content. */
function namedBy({ setState, remove }: FoldedUpdate): number[] {
  return [...setState.map(({ seq }) => seq), ...remove];
}

/** Which messages of an update stand apart. */
function apartOf(contents: readonly StoredMessage[]): StoredMessage[] {
  let room = largestUpdateInside;
  return contents.filter(({ payload, meta }) => {
    const bytes = bytesOf(payload, meta);
    if (bytes <= smallestApart) return false;
    if (bytes > largestInside || bytes > room) return true;
    room -= bytes;
    return false;
  });
}

/** A message inside its memory's document. */
function entryOf({ id, createdAt, payload, meta }: StoredMessage): Entry {
  return { i: id, a: createdAt, p: payload, ...(meta === undefined ? {} : { m: meta }) };
}

/** The entry of a message, by its row where it has one. */
function entriesIn(rows: readonly RowDocument[]): (message: StoredMessage) => Entry {
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return (message) => {
    const row = bySeq.get(message.seq);
    return row === undefined ? entryOf(message) : { i: row.id, a: row.at, r: row._id };
  };
}
