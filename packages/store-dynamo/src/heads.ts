import type { Item } from "./client.ts";
import { type Action, type Items, number, text } from "./items.ts";

/** The head of a memory: everything of it but what stands in rows. */
export interface Head {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner: string | undefined;
  readonly head: string | undefined;
  /** Which messages are live, as `encodeLive` writes it. */
  readonly live: string;
  /** The newest messages, as `textOf` writes it: all that stand in no row, each newer than all in rows. */
  readonly recent: string;
  /** The token of the last update, if rows of it may not be in their places yet. */
  readonly pending: string | undefined;
  /** Names everything that belongs to the memory until it is deleted or expires; never used twice. */
  readonly life: string;
  /** How many updates there were. */
  readonly count: number;
  readonly updatedAt: number;
  readonly endsAt: number | undefined;
}

/** The head in an item; `undefined` if it is none. */
export function headOf(item: Item): Head | undefined {
  const [version, live, recent, life] = [item.version, item.live, item.recent, item.life].map(text);
  const [nextSeq, count, updatedAt] = [item.nextSeq, item.count, item.updatedAt].map(number);
  if (version === undefined || live === undefined || recent === undefined || life === undefined)
    return undefined;
  if (nextSeq === undefined || count === undefined || updatedAt === undefined) return undefined;
  const [owner, head, pending] = [item.owner, item.head, item.pending].map(text);
  const endsAt = number(item.endsAt);
  return { version, nextSeq, owner, head, live, recent, pending, life, count, updatedAt, endsAt };
}

/** What a memory begins from. */
export function headOfNone(life: string, owner: string | undefined): Head {
  const texts = { version: "", head: undefined, live: "", recent: "", pending: undefined };
  return { ...texts, owner, life, nextSeq: 1, count: 0, updatedAt: 0, endsAt: undefined };
}

export function isPresent({ endsAt }: Pick<Head, "endsAt">): boolean {
  return endsAt === undefined || endsAt > Date.now();
}

/** Puts a head in place of the one of a version, or where there is none. An item is replaced faster than it is changed. */
export function writeHead(items: Items, memoryId: string, expected: string | null, head: Head): Action {
  const texts = { version: head.version, life: head.life, live: head.live, recent: head.recent };
  const given = { owner: head.owner, head: head.head, pending: head.pending };
  const numbers = {
    nextSeq: head.nextSeq,
    count: head.count,
    updatedAt: head.updatedAt,
    endsAt: head.endsAt,
  };
  const item: Item = items.headKey(memoryId);
  for (const [name, S] of Object.entries({ ...texts, ...given })) if (S !== undefined) item[name] = { S };
  for (const [name, N] of Object.entries(numbers)) if (N !== undefined) item[name] = { N: String(N) };
  if (head.endsAt !== undefined) {
    item[items.table.ttlAttribute] = { N: String(Math.ceil(head.endsAt / 1000)) };
  }
  if (expected === null) return items.put(item, { expression: "attribute_not_exists(#p)" });
  return items.put(item, { expression: "version = :expected", values: { ":expected": { S: expected } } });
}
