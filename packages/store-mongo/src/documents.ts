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
  /** Where the message left memory, and the row does not say so yet: `superseded`; else it was evicted. */
  readonly s?: MessageState | undefined;
}

/**
 * A memory. A row counts only when this document names it, or when the row itself says `evicted` or `superseded` and
 * this document does not override that by an entry or in `trash`.
 */
export interface MemoryDocument {
  readonly _id: string;
  /** Stands for one life of the id: rows belong to it. */
  readonly life?: string;
  /** Absent: there is no memory, only an attempt to begin one. */
  readonly version?: string;
  readonly next?: number;
  readonly owner?: string;
  readonly head?: string;
  readonly updatedAt?: Date;
  readonly expiresAt?: Date;
  readonly live?: Readonly<Record<string, Entry>>;
  readonly left?: Readonly<Record<string, Entry>>;
  /** Whether rows of this life may exist. */
  readonly apart?: boolean;
  /** Rows that count no more and are to be deleted. */
  readonly trash?: readonly string[];
  /** Earlier lives whose rows are to be deleted. */
  readonly former?: readonly string[];
  /** Updates that stage rows now. Only these can be applied, and only to this version. */
  readonly attempts?: readonly string[];
  /** The same for what is moved out of this document, which leaves the version as it is. */
  readonly stows?: readonly string[];
  /** Attempts that can be applied no more, whose rows are to be deleted. */
  readonly dead?: readonly string[];
  /** Counts who settles; rises. */
  readonly gen?: number;
  /** Changes whenever rows were deleted. */
  readonly dropped?: string;
}

/** Content of a message, under an id that is never used again. The content never changes. */
export interface RowDocument extends Pick<Entry, "i" | "a" | "p" | "m"> {
  readonly _id: string;
  readonly memory: string;
  readonly life: string;
  readonly attempt: string;
  readonly seq: number;
  /** `staged`: only the memory's document can tell. */
  readonly state: "staged" | "evicted" | "superseded";
  readonly gen: number;
}

export interface MigrationDocument {
  readonly _id: string;
  readonly number: number;
}

/** What a write answers: the version that is now in place, and whether something is to be settled. */
export interface Written {
  readonly version?: string;
  readonly life?: string;
  readonly unsettled?: boolean;
}

/** A row that counts by itself. */
export type FoundRow = Pick<RowDocument, "_id" | "seq" | "i" | "a"> & {
  readonly state: Exclude<MessageState, "live">;
};

/** Rows that count by themselves, by seq. */
export type FoundRows = ReadonlyMap<number, FoundRow>;

/** A message below it takes no more room inside than its reference would. */
export const smallestApart = 128;
/** In bytes: what lives together in a document is moved out above it. */
export const documentCap: number = 128 * 1024;
/** Of what an entry takes at most where only a reference is left. */
const referenceBytes = 200;
/** How many messages or memories one statement names at most. */
export const batch = 100;

/** Whether there is a memory, by the server's clock. */
export const present: Document = {
  $and: [
    { $ne: [{ $type: "$version" }, "missing"] },
    { $or: [{ $ne: [{ $type: "$expiresAt" }, "date"] }, { $gt: ["$expiresAt", "$$NOW"] }] },
  ],
};
export const expired: Document = { expiresAt: { $type: "date" }, $expr: { $lte: ["$expiresAt", "$$NOW"] } };

const liveReferences = {
  $multiply: [referenceBytes, { $size: { $objectToArray: { $ifNull: ["$live", {}] } } }],
};
/** Whether what lives together in a document is too much. */
export const tooLarge: Document = {
  $gt: [{ $subtract: [{ $bsonSize: "$$ROOT" }, liveReferences] }, documentCap],
};

/** What is to be settled: rows and lives that no longer count. */
export const leftovers: readonly string[] = ["trash", "former", "dead"];

const isLeftOver = leftovers.map((name) => ({ $gt: [{ $size: `$${name}` }, 0] }));
/** What a write answers, see {@link Written}. */
export const outcome: Document = {
  ...{ _id: 0, version: 1, life: 1 },
  unsettled: { $or: [...isLeftOver, tooLarge] },
};

export const anArray = (path: string): Document => ({ $cond: [{ $isArray: path }, path, []] });
export const without = (path: string, values: readonly unknown[]): Document => ({
  $setDifference: [anArray(path), values],
});
/** A value that is no expression, whatever it looks like. Like everything that is undefined, it is not sent then. */
export const literal = (value: unknown): Document | undefined =>
  value === undefined ? undefined : { $literal: value };
/** A projection of these. */
export const fields = (...names: string[]): Document => Object.fromEntries(names.map((name) => [name, 1]));

/** The lives before the one that begins, whose rows are still there. */
export const formerLives: Document = {
  $concatArrays: [
    anArray("$former"),
    { $cond: [{ $and: ["$apart", { $eq: [{ $type: "$life" }, "string"] }] }, ["$life"], []] },
  ],
};
