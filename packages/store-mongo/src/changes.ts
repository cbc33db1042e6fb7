import type { MessageState } from "@turnkeep/core";
import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import { atVersion, type Embedded, states, tooLarge, unexpired } from "./documents.ts";
import { entryOf, type LocatedMessage, mapsOf, newLife, rowsOf } from "./records.ts";

/** What a writer that has read the memory knows, and what it has staged. */
export interface KnownMemory {
  /** The messages that the update names, by seq; if the maps are written whole, all that the document holds. */
  readonly messages: ReadonlyMap<number, LocatedMessage>;
  /** What the document will hold for messages stored apart, by seq. */
  readonly references: ReadonlyMap<number, Embedded>;
  /** The name under which rows are staged. */
  readonly attempt: string | undefined;
  /** The memory's, and that of the rows; required if there are rows, or if the maps are written whole. */
  readonly generation: number | undefined;
  readonly isWhole: boolean;
}

/** One conditional command on the memory's document. Paths look like `live.7`. */
export interface DocumentChange {
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

/** The number of that type, which takes fewer bytes than its name. */
const object = 3;

/**
 * A writer that has read the document knows that it is sound, and settles leftovers. One that has not makes its change
 * only if neither is needed.
 */
const soundAndSettled: Document = {
  ...Object.fromEntries(states.map((state) => [state, { $type: object }])),
  ...{ staging: [], trash: [], $expr: { $and: [unexpired, { $not: tooLarge }] } },
};

/**
 * Begins a memory if there is none, or changes one at the expected version. Without `known`, nobody has read the
 * memory: the messages that the update names are assumed to be live inside the document, which must confirm it.
 */
export function changeOf(memoryId: string, update: FoldedUpdate, known?: KnownMemory): DocumentChange {
  const { expected, version, nextSeq, owner, head, data, first, insert, replaced, moved } = update;
  const { attempt, generation, isWhole = false, messages, references } = known ?? {};
  const begins = expected === null;
  const upsert = begins && attempt === undefined;
  const filter: Document = {
    ...atVersion(memoryId, expected),
    ...(begins || known !== undefined ? { staging: attempt, generation } : soundAndSettled),
    next: begins ? undefined : { $lte: first },
  };
  const set: Record<string, unknown> = { version, next: nextSeq, owner, head, data };
  if (begins) Object.assign(set, { trash: [] });
  if (upsert) Object.assign(set, { life: newLife(memoryId), staging: [], generation: 0 });
  const rename: Record<string, string> = {};
  const unset: string[] = [];
  // Read at this generation, the document is as `messages` says.
  const whole = begins || isWhole ? new Map<number, LocatedMessage>() : undefined;
  for (const [seq, one] of messages ?? []) if (one.path !== undefined) whole?.set(seq, one);

  function put(seq: number, state: MessageState, entry: Embedded | undefined): void {
    if (whole === undefined) set[`${state}.${seq}`] = entry;
    else if (entry !== undefined) whole.set(seq, { seq, state, entry });
  }
  /** Where a message is stored. The document must confirm it: the message may be moved out meanwhile. */
  function sourceOf(seq: number): Partial<LocatedMessage> {
    const source = messages?.get(seq) ?? { path: `live.${seq}` };
    if (whole !== undefined) return { ...source, path: undefined };
    if (source.path !== undefined) filter[`${source.path}.i`] = { $exists: true };
    return source;
  }
  /** That of a message which stands in a row was read, and a row that counts by itself keeps its id. */
  function confirm(seq: number, id: string): void {
    const { path } = sourceOf(seq);
    if (path !== undefined) filter[`${path}.i`] = id;
  }
  for (const { seq, state } of moved) {
    if (state === "removed") continue;
    const { path, entry } = sourceOf(seq);
    const target = `${state}.${seq}`;
    if (path === undefined) put(seq, state, entry);
    else if (path !== target) rename[path] = target;
  }
  for (const message of [...insert, ...replaced]) {
    if (message.state === "removed") continue;
    put(message.seq, message.state, references?.get(message.seq) ?? entryOf(message));
  }
  const overwritten = [...replaced, ...moved.filter(({ state }) => state === "removed")];
  for (const { seq, state } of overwritten) {
    if (state === "removed") whole?.delete(seq);
    const { path, entry } = sourceOf(seq);
    if (path === undefined) continue;
    filter[`${path}.r`] = entry?.r ?? { $exists: false };
    if (!(path in set)) unset.push(path);
  }
  if (whole !== undefined) Object.assign(set, mapsOf(whole.values()));
  else for (const { seq, id } of replaced) confirm(seq, id);
  const trash = rowsOf(overwritten.flatMap(({ seq }) => messages?.get(seq) ?? []));
  return { filter, set, rename, unset, trash, attempt, upsert };
}
