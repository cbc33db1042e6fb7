import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import { type Entry, type MemoryDocument, present, tooLarge } from "./documents.ts";
import type { PlacedEntry } from "./records.ts";
import { freshId } from "./staging.ts";

/** An update, and what its writer knows. */
export interface Pending {
  readonly memoryId: string;
  readonly update: MemoryUpdate;
  readonly folded: FoldedUpdate;
  readonly ttlMs: number | undefined;
  /** A message as the document is to have it. */
  readonly entryOf: (message: StoredMessage) => Entry;
  /** The messages that the update names, by seq. Absent: nobody has looked, and they are taken for live ones inside. */
  readonly found?: ReadonlyMap<number, PlacedEntry> | undefined;
  /** Under which rows are staged, if any are. */
  readonly attempt?: Attempt | undefined;
}

/** An attempt that was announced, and what the memory's document said then. */
export interface Attempt {
  readonly name: string;
  readonly memory: MemoryDocument;
}

/** One conditional command on the memory's document. Paths are `live.7` and the like. */
export interface Change {
  /** The document is as the writer believes; else nothing changes. */
  readonly filter: Document;
  readonly set: Readonly<Record<string, unknown>>;
  /** Old paths to new ones. */
  readonly rename: Readonly<Record<string, string>>;
  readonly unset: readonly string[];
  /** Rows that count no more. */
  readonly trash: readonly string[];
  /** An attempt that is over. */
  readonly attempt: string | undefined;
  /** Whether the document may be made. */
  readonly upsert: boolean;
  readonly ttlMs: number | undefined;
}

/** Begins a memory where there is none. */
export function beginning({ memoryId, update, folded, ttlMs, entryOf, attempt }: Pending): Change {
  const { version, nextSeq, owner, head } = update;
  const maps: Record<string, Record<string, Entry>> = { live: {}, evicted: {}, superseded: {} };
  for (const message of folded.insert)
    Object.assign(maps[message.state] ?? {}, { [message.seq]: entryOf(message) });
  const life = attempt === undefined ? { life: freshId(), staging: [], generation: 0 } : {};
  const { name, memory } = attempt ?? {};
  return {
    filter: { _id: memoryId, version: { $exists: false }, staging: name, generation: memory?.generation },
    set: { version, next: nextSeq, owner, head, ...maps, trash: [], ...life },
    ...{ rename: {}, unset: [], trash: [], attempt: name, upsert: attempt === undefined, ttlMs },
  };
}

/** Changes a memory that is at the expected version. */
export function changing({ memoryId, update, folded, ttlMs, entryOf, found, attempt }: Pending): Change {
  const { expected, version, nextSeq, head, append, replace } = update;
  const set: Record<string, unknown> = { version, next: nextSeq, head };
  const rename: Record<string, string> = {};
  const unset: string[] = [];
  const trash: string[] = [];
  const filter: Document = {
    _id: memoryId,
    version: expected,
    next: { $lte: append[0]?.seq ?? nextSeq },
    staging: attempt?.name,
    generation: attempt?.memory.generation,
    $expr: present,
  };
  if (found === undefined) {
    // Whoever has looked has seen that it is sound, and settles what there is to settle; who has not leaves it to them.
    for (const map of ["live", "evicted", "superseded"]) filter[map] = { $type: "object" };
    Object.assign(filter, { staging: [], trash: [], $expr: { $and: [present, { $not: tooLarge }] } });
  }
  /** Where a message stands, which the document must confirm: it may be moved out meanwhile. */
  function sourceOf(seq: number): { readonly path: string | undefined; readonly row: string | undefined } {
    const { path, entry } = found?.get(seq) ?? { path: `live.${seq}`, entry: undefined };
    if (path !== undefined) filter[`${path}.i`] = { $exists: true };
    return { path, row: entry?.r };
  }
  for (const message of [...folded.insert, ...folded.rewrite]) {
    set[`${message.state}.${message.seq}`] = entryOf(message);
  }
  for (const { seq, state } of folded.setState) {
    const { path } = sourceOf(seq);
    const target = `${state}.${seq}`;
    if (path === undefined) set[target] = found?.get(seq)?.entry;
    else if (path !== target) rename[path] = target;
  }
  for (const seq of [...folded.rewrite.map((message) => message.seq), ...folded.remove]) {
    const { path, row } = sourceOf(seq);
    if (path !== undefined) {
      filter[`${path}.r`] = row ?? { $exists: false };
      if (!(path in set)) unset.push(path);
    }
    if (row !== undefined) trash.push(row);
  }
  for (const { seq, id } of replace) filter[`live.${seq}.i`] = id;
  return { filter, set, rename, unset, trash, attempt: attempt?.name, upsert: false, ttlMs };
}
