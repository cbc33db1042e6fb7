import type { NormalHistoryQuery } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import type { Collections } from "./client.ts";
import {
  anArray,
  batch,
  type Entry,
  expired,
  type FoundRow,
  formerLives,
  literal,
  type MemoryDocument,
  present,
  type RowDocument,
  type Written,
  without,
} from "./documents.ts";

/** One step against the database; nothing but the id of a memory and the conditions in it ties it to others. */
export type Statement<Answer> = (collections: Collections) => Promise<Answer>;

/** How long an attempt to begin a memory may take, by the server's clock. */
const attemptLastsMs = 60 * 60 * 1000;

/** The statements for the contract's methods. */
export class Statements {
  /** Without its messages where it is at the version that is known. */
  read(memoryId: string, known: string | undefined): Statement<MemoryDocument | null> {
    const isKnown = { $eq: ["$version", { $literal: known ?? null }] };
    const live = known === undefined ? 1 : { $cond: [isKnown, "$$REMOVE", "$live"] };
    const projection = { life: 1, version: 1, next: 1, owner: 1, head: 1, live };
    return ({ memories, reading }) =>
      memories.findOne({ _id: memoryId, $expr: present }, { ...reading, projection });
  }

  /** Those rows that are there. */
  rows(ids: readonly string[]): Statement<RowDocument[]> {
    return ({ messages }) => messages.find({ _id: { $in: [...ids] } }).toArray();
  }

  /** Everything that the memory's document knows of its history. */
  ledger(memoryId: string): Statement<MemoryDocument | null> {
    const projection = { life: 1, version: 1, next: 1, live: 1, left: 1, trash: 1, apart: 1, dropped: 1 };
    return ({ memories, reading }) =>
      memories.findOne({ _id: memoryId, $expr: present }, { ...reading, projection });
  }

  /** Changes when rows of the life were deleted. */
  mark(memoryId: string, life: string): Statement<MemoryDocument | null> {
    return ({ memories }) => memories.findOne({ _id: memoryId, life }, { projection: { dropped: 1 } });
  }

  /** Rows of a life that count by themselves. One beyond the limit: there is more. */
  history(
    life: string,
    { after, before, order, limit, states, ids }: NormalHistoryQuery,
    except: readonly string[],
  ): Statement<RowDocument[]> {
    const counting = states.filter((state) => state !== "live");
    const filter: Document = {
      life,
      seq: { $gt: after, $lt: before },
      state: { $in: counting },
      _id: { $nin: except },
      ...(ids === undefined ? {} : { id: { $in: ids } }),
    };
    return ({ messages }) =>
      messages
        .find(filter)
        .hint(ids === undefined ? "seq" : "id")
        .sort({ seq: order === "ascending" ? 1 : -1 })
        .limit(limit + 1)
        .toArray();
  }

  /** Which of these messages have rows that count by themselves. */
  find(life: string, seqs: readonly number[], except: readonly string[]): Statement<FoundRow[]> {
    const filter = { life, seq: { $in: [...seqs] }, state: { $ne: "staged" }, _id: { $nin: [...except] } };
    return ({ messages }) =>
      messages
        .find(filter as Document)
        .hint("seq")
        .project<FoundRow>({ seq: 1, id: 1, at: 1, state: 1 })
        .toArray();
  }

  /** Announces an attempt that stages rows. `null`: it cannot be applied. */
  open(memoryId: string, expected: string | null, attempt: string): Statement<Written | null> {
    if (expected !== null) {
      const filter = { _id: memoryId, version: expected, $expr: present };
      return ({ memories }) =>
        memories.findOneAndUpdate(filter, { $push: { attempts: attempt } }, { projection: { version: 1 } });
    }
    const empty = {
      _id: "$_id",
      former: formerLives,
      attempts: { $concatArrays: [anArray("$attempts"), [attempt]] },
      dead: anArray("$dead"),
      expiresAt: { $add: ["$$NOW", attemptLastsMs] },
    };
    const pipeline = [{ $replaceWith: { $cond: [present, "$$ROOT", empty] } }];
    return async ({ memories }) => {
      const found = await memories.findOneAndUpdate({ _id: memoryId }, pipeline, {
        upsert: true,
        returnDocument: "after",
        projection: { attempts: 1 },
      });
      return found?.attempts?.includes(attempt) ? {} : null;
    };
  }

  insert(rows: readonly RowDocument[]): Statement<unknown> {
    return ({ messages }) => messages.insertMany([...rows], { ordered: false });
  }

  /** Removes rows of an attempt, unless it was applied after all and settled. */
  discard(rows: readonly string[]): Statement<number> {
    return async ({ messages }) =>
      (await messages.deleteMany({ _id: { $in: [...rows] }, state: "staged" })).deletedCount;
  }

  /** Which life a memory has, expired ones and attempts to begin one too. */
  peek(memoryId: string): Statement<MemoryDocument | null> {
    const projection = { life: 1, former: 1, apart: 1 };
    return ({ memories }) => memories.findOne({ _id: memoryId }, { projection });
  }

  /** Removes that life of a memory and no other. */
  remove({ _id, life }: MemoryDocument, only?: "expired"): Statement<MemoryDocument | null> {
    const filter = { _id, life: life ?? null, ...(only === undefined ? {} : expired) } as Document;
    return ({ memories }) => memories.findOneAndDelete(filter, { projection: { life: 1 } });
  }

  /** Removes the rows of lives that are over. */
  bury(lives: readonly string[]): Statement<number> {
    return async ({ messages }) => (await messages.deleteMany({ life: { $in: [...lives] } })).deletedCount;
  }

  /** In the order of their ids, after that one. One beyond the limit: there is more. */
  list(owner: string | undefined, after: string, limit: number): Statement<MemoryDocument[]> {
    const filter = { _id: { $gt: after }, ...(owner === undefined ? {} : { owner }), $expr: present };
    return ({ memories }) =>
      memories
        .find(filter)
        .hint(owner === undefined ? "_id_" : "owner")
        .sort({ _id: 1 })
        .limit(limit + 1)
        .project<MemoryDocument>({ owner: 1, updatedAt: 1 })
        .toArray();
  }

  /** Expired memories after that id, and attempts to begin one that took too long. */
  overdue(after: string): Statement<MemoryDocument[]> {
    const filter = { ...expired, _id: { $gt: after } };
    return ({ memories }) =>
      memories
        .find(filter)
        .sort({ _id: 1 })
        .limit(batch)
        .project<MemoryDocument>({ life: 1, former: 1 })
        .toArray();
  }

  /** A life after that one, of which there are rows. */
  lifeAfter(life: string): Statement<Pick<RowDocument, "life" | "memory"> | undefined> {
    return async ({ messages }) =>
      (await messages
        .find({ life: { $gt: life } })
        .hint("seq")
        .sort({ life: 1 })
        .limit(1)
        .project<RowDocument>({ life: 1, memory: 1 })
        .next()) ?? undefined;
  }

  staged(life: string): Statement<Pick<RowDocument, "_id" | "attempt">[]> {
    return ({ messages }) =>
      messages
        .find({ life, state: "staged" })
        .hint("seq")
        .project<Pick<RowDocument, "_id" | "attempt">>({ attempt: 1 })
        .toArray();
  }

  /**
   * Takes back what was announced, so that those attempts can be applied no more, and answers what the document says
   * then. A write even where it changes nothing: its acknowledgement tells that a majority holds this state.
   */
  revoke(memoryId: string, attempts: readonly string[]): Statement<MemoryDocument | null> {
    const set = { attempts: without("$attempts", attempts), stows: without("$stows", attempts) };
    return ({ memories }) =>
      memories.findOneAndUpdate({ _id: memoryId }, [{ $set: set }], {
        returnDocument: "after",
        projection: { life: 1, live: 1, left: 1, trash: 1 },
      });
  }

  /** Announces who settles, and answers the document as a majority holds it. Others who settle can no more. */
  claim(memoryId: string, life: string, stow: string): Statement<(MemoryDocument & { size: number }) | null> {
    const set = {
      gen: { $add: ["$gen", 1] },
      dead: { $concatArrays: ["$dead", "$stows"] },
      stows: [stow],
    };
    return ({ memories }) =>
      memories.findOneAndUpdate({ _id: memoryId, life }, [{ $set: set }], {
        returnDocument: "after",
        projection: { ...everything, size: { $bsonSize: "$$ROOT" } } as Document,
      }) as Promise<(MemoryDocument & { size: number }) | null>;
  }

  /** Puts rows in the place of contents. */
  stow(
    { _id, version }: MemoryDocument,
    stow: string,
    entries: ReadonlyMap<string, Entry>,
  ): Statement<boolean> {
    const set: Document = { apart: true };
    for (const [path, entry] of entries) set[path] = literal(entry);
    const filter = { _id, version, stows: stow } as Document;
    return async ({ memories }) => (await memories.updateOne(filter, [{ $set: set }])).matchedCount === 1;
  }

  /** Rows say themselves that they left; one that settles late changes nothing. */
  setState(rows: readonly string[], state: "evicted" | "superseded", gen: number): Statement<unknown> {
    const filter = { _id: { $in: [...rows] }, gen: { $lt: gen } };
    return ({ messages }) => messages.updateMany(filter, { $set: { state, gen } });
  }

  drop(rows: readonly string[]): Statement<unknown> {
    return ({ messages }) => messages.deleteMany({ _id: { $in: [...rows] } });
  }

  /** Removes what attempts staged that were not applied. */
  discardAttempts(attempts: readonly string[], except: readonly string[]): Statement<unknown> {
    const filter = { attempt: { $in: [...attempts] }, state: "staged", _id: { $nin: [...except] } } as const;
    return ({ messages }) => messages.deleteMany(filter);
  }

  /** Forgets what was settled. */
  settled(
    { _id, version, trash = [], former = [], dead = [] }: MemoryDocument,
    stow: string,
    left: readonly string[],
  ): Statement<boolean> {
    const set: Document = {
      trash: without("$trash", trash),
      former: without("$former", former),
      dead: without("$dead", dead),
      stows: [],
      ...(trash.length > 0 ? { dropped: literal(stow) } : {}),
    };
    const pipeline = [
      { $set: set },
      ...(left.length > 0 ? [{ $unset: left.map((seq) => `left.${seq}`) }] : []),
    ];
    const filter = { _id, version, stows: stow } as Document;
    return async ({ memories }) => (await memories.updateOne(filter, pipeline)).matchedCount === 1;
  }
}

const everything: Document = Object.fromEntries(
  ["life", "version", "live", "left", "trash", "former", "dead", "gen"].map((name) => [name, 1]),
);
