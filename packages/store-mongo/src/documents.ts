import type { MessageState } from "@turnkeep/core";
import type { Document } from "mongodb";

/** A message as the document of its memory has it: its content, or the row that has it. */
export interface Entry {
  /** Message id. */
  readonly i: string;
  /** `createdAt`. */
  readonly a: number;
  readonly p?: string | undefined;
  readonly m?: string | undefined;
  /** The row with the content. */
  readonly r?: string | undefined;
}

/** The maps of a document, each with the messages of one state. */
export const states: readonly MessageState[] = ["live", "evicted", "superseded"];

/** Entries by seq. */
export type Entries = Readonly<Record<string, Entry>>;

/**
 * A memory. A row counts only when this document names it, or when the row itself says `evicted` or `superseded` and
 * this document does not override that by an entry or in `trash`. Who reads it has the fields that he asked for.
 */
export interface MemoryDocument {
  readonly _id: string;
  /** Stands for one life of the id: rows belong to it. */
  readonly life: string;
  /** Absent: there is no memory, only somebody who stages rows to begin one. */
  readonly version?: string;
  readonly next?: number;
  readonly owner?: string;
  readonly head?: string;
  readonly updatedAt?: Date;
  readonly expiresAt?: Date;
  readonly live: Entries;
  /** What left memory, and the rows do not say so yet. */
  readonly evicted: Entries;
  readonly superseded: Entries;
  /** Rows that count no more and are to be deleted. */
  readonly trash: readonly string[];
  /** Attempts that stage rows now, or that have failed at it. */
  readonly staging: readonly string[];
  /** Rises before rows are deleted, and no attempt outlives that. 0: this life has no rows. */
  readonly generation: number;
  /** Never stored, but answered: whether what lives together in the document is too much. */
  readonly tooLarge?: boolean;
}

/** Content of a message, under an id that is never used again. The content never changes. */
export interface RowDocument extends Pick<Entry, "i" | "a" | "p" | "m"> {
  readonly _id: string;
  readonly memory: string;
  readonly life: string;
  readonly seq: number;
  /** `staged`: only the memory's document can tell. */
  readonly state: "staged" | Exclude<MessageState, "live">;
  /** The memory's when the row was staged, later when its state was set. */
  readonly generation: number;
}

export interface MigrationDocument {
  readonly _id: string;
  readonly number: number;
}

/** In bytes: what lives together in a document is moved out above it. */
export const documentCap: number = 128 * 1024;
/** In bytes: a message below it takes no more room inside than its reference would. */
export const smallestApart = 128;
/** In bytes: what a live message takes at most beside its id, where its content is not to be moved out, or no more. */
const entryBytes = smallestApart + 56;

/** Whether there is a memory, by the server's clock. */
export const present: Document = {
  $and: [
    { $ne: [{ $type: "$version" }, "missing"] },
    { $or: [{ $ne: [{ $type: "$expiresAt" }, "date"] }, { $gt: ["$expiresAt", "$$NOW"] }] },
  ],
};
export const expired: Document = { expiresAt: { $type: "date" }, $expr: { $lte: ["$expiresAt", "$$NOW"] } };

const live = { $cond: [{ $eq: [{ $type: "$live" }, "object"] }, "$live", {}] };
const entries = { $objectToArray: live };
const idBytes = { $cond: [{ $eq: [{ $type: "$$this.v.i" }, "string"] }, { $strLenBytes: "$$this.v.i" }, 0] };
const beyondCap = (allowed: Document): Document => ({
  $gt: [{ $subtract: [{ $bsonSize: "$$ROOT" }, allowed] }, documentCap],
});
/**
 * Whether what lives together in a document is too much. Ids are measured only where it might be: that takes some
 * milliseconds where thousands are live.
 */
export const tooLarge: Document = {
  $and: [
    beyondCap({ $multiply: [entryBytes, { $size: entries }] }),
    beyondCap({ $sum: { $map: { input: entries, in: { $add: [entryBytes, idBytes] } } } }),
  ],
};

/** A memory that is there at that version; `null`: the place of one that is not. */
export function atVersion(memoryId: string, version: string | null): Document {
  if (version === null) return { _id: memoryId, version: { $exists: false } };
  return { _id: memoryId, version, $expr: present };
}
