import type { MemoryUpdate } from "@turnkeep/core";
import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import { atVersion, type Entry, present, states, tooLarge } from "./documents.ts";
import { entryOf, freshId, type PlacedEntry } from "./records.ts";

/** What a writer that has read the memory knows, and what it has staged. */
export interface Known {
  /** The messages that the update names, by seq. */
  readonly found: ReadonlyMap<number, PlacedEntry>;
  /** What the document will hold for messages stored apart, by seq. */
  readonly references: ReadonlyMap<number, Entry>;
  /** The name under which rows are staged, and the generation of memory and rows then. */
  readonly attempt: { readonly name: string; readonly generation: number | undefined } | undefined;
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
  const attempt = known?.attempt;
  const { expected, version, nextSeq, owner, head, append, replace } = update;
  const begins = expected === null;
  const set: Record<string, unknown> = { version, next: nextSeq, head };
  const rename: Record<string, string> = {};
  const unset: string[] = [];
  const trash: string[] = [];
  const filter: Document = {
    ...atVersion(memoryId, expected),
    next: begins ? undefined : { $lte: append[0]?.seq ?? nextSeq },
    staging: attempt?.name,
    generation: attempt?.generation,
  };
  if (begins) {
    Object.assign(set, { owner, live: {}, evicted: {}, superseded: {}, trash: [] });
    if (attempt === undefined) Object.assign(set, { life: freshId(), staging: [], generation: 0 });
  } else if (known === undefined) {
    // A writer that has read the document knows that it is sound, and settles leftovers. One that has not makes its
    // change only if neither is needed.
    for (const state of states) filter[state] = { $type: "object" };
    Object.assign(filter, { staging: [], trash: [], $expr: { $and: [present, { $not: tooLarge }] } });
  }
  /** Where a message is stored. The document must confirm it: the message may be moved out meanwhile. */
  function sourceOf(seq: number): Pick<Partial<PlacedEntry>, "path" | "entry"> {
    const source = known?.found.get(seq) ?? { path: `live.${seq}` };
    if (source.path !== undefined) filter[`${source.path}.i`] = { $exists: true };
    return source;
  }
  for (const message of [...folded.insert, ...folded.rewrite]) {
    const { seq, state } = message;
    const entry = known?.references.get(seq) ?? entryOf(message);
    if (begins) Object.assign(set[state] as object, { [seq]: entry });
    else set[`${state}.${seq}`] = entry;
  }
  for (const { seq, state } of folded.setState) {
    const { path, entry } = sourceOf(seq);
    const target = `${state}.${seq}`;
    if (path === undefined) set[target] = entry;
    else if (path !== target) rename[path] = target;
  }
  for (const seq of [...folded.rewrite.map((message) => message.seq), ...folded.remove]) {
    const { path, entry } = sourceOf(seq);
    if (path !== undefined) {
      filter[`${path}.r`] = entry?.r ?? { $exists: false };
      if (!(path in set)) unset.push(path);
    }
    if (entry?.r !== undefined) trash.push(entry.r);
  }
  for (const { seq, id } of replace) filter[`live.${seq}.i`] = id;
  const upsert = begins && attempt === undefined;
  return { filter, set, rename, unset, trash, attempt: attempt?.name, upsert };
}
