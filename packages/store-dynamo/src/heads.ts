import type { MemoryUpdate } from "@turnkeep/core";
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
  /** Names everything that belongs to the memory until it is deleted or expires; never used twice. */
  readonly life: string;
  /** How many updates there were. */
  readonly count: number;
  readonly updatedAt: number;
  readonly endsAt: number | undefined;
}

/** What the next update is computed from. */
export type Base = Pick<Head, "version" | "nextSeq" | "live" | "recent" | "life" | "count">;

/** The head in an item; `undefined` if it is none. */
export function headOf(item: Item): Head | undefined {
  const [version, live, recent, life] = [item.version, item.live, item.recent, item.life].map(text);
  const [nextSeq, count, updatedAt] = [item.nextSeq, item.count, item.updatedAt].map(number);
  if (version === undefined || live === undefined || recent === undefined || life === undefined)
    return undefined;
  if (nextSeq === undefined || count === undefined || updatedAt === undefined) return undefined;
  const [owner, head, endsAt] = [text(item.owner), text(item.head), number(item.endsAt)];
  return { version, nextSeq, owner, head, live, recent, life, count, updatedAt, endsAt };
}

export function isPresent({ endsAt }: Pick<Head, "endsAt">): boolean {
  return endsAt === undefined || endsAt > Date.now();
}

/** Writes the head that an update leaves: begun where there is none, else changed where its version is the expected one. */
export function writeHead(
  items: Items,
  memoryId: string,
  { expected, version, nextSeq, owner, head }: MemoryUpdate,
  { life, live, recent, count }: Base,
  ttlMs: number | undefined,
): Action {
  const now = Date.now();
  const { tableName, ttlAttribute } = items.table;
  const set: Item = {
    version: { S: version },
    nextSeq: { N: String(nextSeq) },
    live: { S: live },
    recent: { S: recent },
    count: { N: String(count) },
    updatedAt: { N: String(now) },
    ...(head === undefined ? {} : { head: { S: head } }),
    ...(ttlMs === undefined
      ? {}
      : {
          endsAt: { N: String(now + ttlMs) },
          [ttlAttribute]: { N: String(Math.ceil((now + ttlMs) / 1000)) },
        }),
  };
  if (expected === null) {
    const named = owner === undefined ? {} : { owner: { S: owner } };
    const item = { ...items.headKey(memoryId), ...set, ...named, life: { S: life } };
    return items.put(item, { expression: "attribute_not_exists(#p)" });
  }
  const forgotten = ttlMs === undefined ? ["endsAt", ttlAttribute] : [];
  const names = [...Object.keys(set), ...forgotten].map((name, index) => [`#${index}`, name] as const);
  const values = Object.values(set).map((value, index) => [`:${index}`, value] as const);
  const places = values.map((_, index) => `#${index} = :${index}`);
  const removed = names.slice(values.length).map(([alias]) => alias);
  return {
    Update: {
      TableName: tableName,
      Key: items.headKey(memoryId),
      UpdateExpression: `SET ${places}${removed.length === 0 ? "" : ` REMOVE ${removed}`}`,
      ConditionExpression: "version = :expected AND (attribute_not_exists(endsAt) OR endsAt > :now)",
      ExpressionAttributeNames: Object.fromEntries(names),
      ExpressionAttributeValues: {
        ...Object.fromEntries(values),
        ":expected": { S: expected },
        ":now": { N: String(now) },
      },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  };
}
