import type { MessageState } from "@turnkeep/core";
import type { Document } from "mongodb";

/** A message inside its memory's document: its content, or a reference to the row that has it. */
export interface Embedded {
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

/** Messages by seq. */
export type EmbeddedMap = Readonly<Record<string, Embedded>>;

/**
 * When a memory was last written to, as the order `newest` knows it: the beginning of the period of `activityMs` in which that
 * was, and how long before the first write in it that was, in milliseconds, less than 0. So the greatest value is the first of
 * the latest period: `$max` changes it once in a period.
 */
export interface Activity {
  readonly s: Date;
  readonly r: number;
}

/**
 * A memory. A row counts only if this document names it, or if the row itself says `evicted` or `superseded` and this
 * document does not override that by an entry or in `trash`. A query reads only the fields that it asked for.
 */
export interface MemoryDocument {
  readonly _id: string;
  /** Identifies one life of the id: rows belong to it. */
  readonly life: string;
  /** Absent: there is no memory, only a writer that stages rows to begin one. */
  readonly version?: string;
  readonly next?: number;
  readonly owner?: string;
  readonly head?: string;
  readonly data?: string;
  /** Absent: a release that knew no order `newest` has begun it. */
  readonly active?: Activity;
  readonly updatedAt?: Date;
  readonly expiresAt?: Date;
  readonly live: EmbeddedMap;
  /** Messages that left memory, while the rows do not say so yet. */
  readonly evicted: EmbeddedMap;
  readonly superseded: EmbeddedMap;
  /** Rows that no longer count and are to be deleted. */
  readonly trash: readonly string[];
  /** Attempts that are staging rows, or that failed. */
  readonly staging: readonly string[];
  /** Increases before rows are deleted; no attempt survives that. 0: this life has no rows. */
  readonly generation: number;
  /** Never stored, only computed: whether the document holds too much. */
  readonly tooLarge?: boolean;
}

/** Content of a message, under an id that is never used again. It never changes. */
export interface RowDocument extends Pick<Embedded, "i" | "a" | "p" | "m"> {
  readonly _id: string;
  readonly memory: string;
  readonly life: string;
  readonly seq: number;
  /** `staged`: only the memory's document can tell. */
  readonly state: "staged" | Exclude<MessageState, "live">;
  /** The memory's generation when the row was staged, later the one when its state was set. */
  readonly generation: number;
}

export interface MigrationDocument {
  readonly _id: string;
  readonly number: number;
  /** Never stored, only computed: the server's clock. */
  readonly now?: Date;
}

/** In bytes: above this, content is moved out of a document. */
export const documentCap: number = 128 * 1024;
/** In bytes: a message below this takes no more room inside than a reference would. */
export const smallestApart = 128;
/** In bytes: the most that a live message that stays inside, or was moved out, takes besides its id. */
const entryBytes = smallestApart + 56;

/** Whether a memory that there was is still there, by the server's clock. */
export const unexpired: Document = {
  $or: [{ $ne: [{ $type: "$expiresAt" }, "date"] }, { $gt: ["$expiresAt", "$$NOW"] }],
};
/** Whether there is a memory. */
export const present: Document = { $and: [{ $ne: [{ $type: "$version" }, "missing"] }, unexpired] };
export const expired: Document = { expiresAt: { $type: "date" }, $expr: { $lte: ["$expiresAt", "$$NOW"] } };

const live = { $cond: [{ $eq: [{ $type: "$live" }, "object"] }, "$live", {}] };
const entries = { $objectToArray: live };
const idBytes = { $cond: [{ $eq: [{ $type: "$$this.v.i" }, "string"] }, { $strLenBytes: "$$this.v.i" }, 0] };
const beyondCap = (allowed: Document): Document => ({
  $gt: [{ $subtract: [{ $bsonSize: "$$ROOT" }, allowed] }, documentCap],
});
/**
 * Whether a document holds too much. Ids are measured only if it might, because that takes some milliseconds for
 * thousands of live messages.
 */
export const tooLarge: Document = {
  $and: [
    beyondCap({ $multiply: [entryBytes, { $size: entries }] }),
    beyondCap({ $sum: { $map: { input: entries, in: { $add: [entryBytes, idBytes] } } } }),
  ],
};

/** Matches the memory at that version; `null`: the place of one that does not exist. */
export function atVersion(memoryId: string, version: string | null): Document {
  if (version === null) return { _id: memoryId, version: { $exists: false } };
  return { _id: memoryId, version, $expr: unexpired };
}
