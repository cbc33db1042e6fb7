import type { MemoryUpdate, MessageState } from "@turnkeep/core";
import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import { atVersion, type Entry, present, states, tooLarge } from "./documents.ts";
import { entryOf, mapsOf, newLife, type PlacedEntry } from "./records.ts";

/** What a writer that has read the memory knows, and what it has staged. */
export interface Known {
  /** The messages that the update names, by seq. */
  readonly found: ReadonlyMap<number, PlacedEntry>;
  /** What the document will hold for messages stored apart, by seq. */
  readonly references: ReadonlyMap<number, Entry>;
  /** The name under which rows are staged. */
  readonly attempt: string | undefined;
  /** The memory's, and that of the rows; required if there are rows, or if the maps are written whole. */
  readonly generation: number | undefined;
  /** Whether the maps are written whole, which needs all that the document holds in `found`. */
  readonly isWhole: boolean;
}

/** One conditional command on the memory's document. Paths look like `live.7`. */
export interface Change {
  /** Matches if the document is as the writer believes; else nothing changes. */
  readonly filter: Document;
  readonly set: Readonly<Record<string, unknown>>;
  /** Old paths to new ones. */
  readonly rename: Readonly<Record<string, string>>;
  readonly unset: readonly string[];
  /** Rows that no longer count. */
  readonly trash: readonly string[];
  /** An attempt that is over. */
  readonly attempt: string | undefined;
  /** Whether the document may be created. */
  readonly upsert: boolean;
}

/**
 * Begins a memory if there is none, or changes one at the expected version. Without `known`, nobody has read the
 * memory: the messages that the update names are assumed to be live inside the document, which must confirm it.
 */
export function changeOf(
  memoryId: string,
  update: MemoryUpdate,
  folded: FoldedUpdate,
  known?: Known,
): Change {
  const { expected, version, nextSeq, owner, head, append, replace } = update;
  const begins = expected === null;
  const set: Record<string, unknown> = { version, next: nextSeq, head };
  const rename: Record<string, string> = {};
  const unset: string[] = [];
  const trash: string[] = [];
  const filter: Document = {
    ...atVersion(memoryId, expected),
    next: begins ? undefined : { $lte: append[0]?.seq ?? nextSeq },
    staging: known?.attempt,
    generation: known?.generation,
  };
  if (begins) {
    Object.assign(set, { owner, trash: [] });
    if (known?.attempt === undefined)
      Object.assign(set, { life: newLife(memoryId), staging: [], generation: 0 });
  } else if (known === undefined) {
    // A writer that has read the document knows that it is sound, and settles leftovers. One that has not makes its
    // change only if neither is needed.
    for (const state of states) filter[state] = { $type: "object" };
    Object.assign(filter, { staging: [], trash: [], $expr: { $and: [present, { $not: tooLarge }] } });
  }
  // Read at this generation, the document is as `found` says.
  const whole = begins || known?.isWhole ? new Map<number, PlacedEntry>() : undefined;
  for (const [seq, placed] of known?.found ?? []) if (placed.path !== undefined) whole?.set(seq, placed);
  function put(seq: number, state: MessageState, entry: Entry | undefined): void {
    if (whole === undefined) set[`${state}.${seq}`] = entry;
    else if (entry !== undefined) whole.set(seq, { seq, state, entry });
  }
  /** Where a message is stored. The document must confirm it: the message may be moved out meanwhile. */
  function sourceOf(seq: number): { path?: string; entry?: Entry | undefined } {
    const source: ReturnType<typeof sourceOf> = known?.found.get(seq) ?? { path: `live.${seq}` };
    if (whole !== undefined) return { entry: source.entry };
    if (source.path !== undefined) filter[`${source.path}.i`] = { $exists: true };
    return source;
  }
  for (const { seq, state } of folded.setState) {
    const { path, entry } = sourceOf(seq);
    const target = `${state}.${seq}`;
    if (path === undefined) put(seq, state, entry);
    else if (path !== target) rename[path] = target;
  }
  for (const message of [...folded.insert, ...folded.rewrite]) {
    put(message.seq, message.state, known?.references.get(message.seq) ?? entryOf(message));
  }
  for (const seq of [...folded.rewrite.map((message) => message.seq), ...folded.remove]) {
    const { path, entry } = sourceOf(seq);
    if (path !== undefined) {
      filter[`${path}.r`] = entry?.r ?? { $exists: false };
      if (!(path in set)) unset.push(path);
    }
    if (typeof entry?.r === "string") trash.push(entry.r);
  }
  for (const seq of folded.remove) whole?.delete(seq);
  if (whole !== undefined) Object.assign(set, mapsOf(whole.values()));
  else for (const { seq, id } of replace) filter[`live.${seq}.i`] = id;
  const upsert = begins && known?.attempt === undefined;
  return { filter, set, rename, unset, trash, attempt: known?.attempt, upsert };
}
