/**
 * The head of a memory: the one item that every update replaces. It says which messages live where, so that what stands
 * beside it counts only as far as the head vouches for it.
 */
import { corruptError } from "@turnkeep/core/store-kit";
import { headKey, headNumbers, headOptional, headTexts, type Life, padded } from "./items.ts";
import type { Action, Attributes, Table, TableItem } from "./table.ts";

/** How many memories' heads the store remembers, so that an update need not read again what was just read. */
const remembered = 1_000;

/** The head of a memory: everything except what is in rows. */
export interface Head {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner?: string | undefined;
  readonly head?: string | undefined;
  /** Which messages are live, as `encodeLive` writes it. */
  readonly live: string;
  /** The newest messages, as `textOf` writes them: all that are in no row, each newer than all in rows. */
  readonly recent: string;
  /** The rows that messages moved into last, and the last marks, as {@link encodeFresh} writes them: a reader must find them. */
  readonly fresh?: string | undefined;
  /** The token of the last update, if some of its rows may not be in their places yet. */
  readonly pending?: string | undefined;
  readonly life: string;
  /** The number of updates so far. */
  readonly count: number;
  readonly updatedAt: number;
  readonly endsAt?: number | undefined;
  /** The last activity by which the memory is listed; see {@link Timing}. */
  readonly activeAt?: number | undefined;
  /** What the application says about the memory, if it is short. */
  readonly data?: string | undefined;
  /** The count of the update that wrote the data, if that stands in an item of its own. */
  readonly dataCount?: number | undefined;
}

/** How long a memory lives after a write, and how long its noted activity counts as its last; in milliseconds. */
export interface Timing {
  readonly ttlMs: number | undefined;
  readonly activityMs: number;
}

/** The head that a new memory starts from. */
export const headOfNone: Head = Object.freeze({
  ...{ version: "", nextSeq: 1, live: "", recent: "", life: "", count: 0, updatedAt: 0 },
});

/** `undefined` if it lacks a part. */
export function headOf(values: Attributes): Head | undefined {
  const isWhole =
    headTexts.every((name) => typeof values[name] === "string") &&
    headNumbers.every((name) => typeof values[name] === "number");
  if (!isWhole) return undefined;
  const names = [...headTexts, ...headNumbers, ...headOptional];
  return Object.fromEntries(names.map((name) => [name, values[name]])) as unknown as Head;
}

export function isPresent({ endsAt }: Pick<Head, "endsAt">): boolean {
  return endsAt === undefined || endsAt > Date.now();
}

/** The heads of the memories that this process used last. */
export class Heads {
  readonly #byMemory = new Map<string, Head>();

  /** The head at that version, from what is remembered if it is; the present one if it is another. */
  async at(table: Table, memoryId: string, version: string): Promise<Head | undefined> {
    const head = this.#byMemory.get(memoryId);
    return head?.version === version ? head : this.read(table, memoryId);
  }

  /** The present head of a memory that is there. */
  async read(table: Table, memoryId: string): Promise<Head | undefined> {
    const item = await table.get(headKey(memoryId));
    if (item === undefined) return undefined;
    const head = headOf(item.values);
    if (head === undefined) throw corruptError(memoryId, "its head lacks a part");
    if (!isPresent(head)) return undefined;
    this.remember(memoryId, head);
    return head;
  }

  remember(memoryId: string, head: Head): void {
    this.forget(memoryId);
    this.#byMemory.set(memoryId, head);
    const [oldest] = this.#byMemory.keys();
    if (this.#byMemory.size > remembered && oldest !== undefined) this.forget(oldest);
  }

  forget(memoryId: string): void {
    this.#byMemory.delete(memoryId);
  }
}

/**
 * Puts a head in place of the one at a version, or where there is none or an expired one, whose memory a sweep removes.
 * To replace an item is faster than to change it.
 */
export function putHead(table: Table, memoryId: string, expected: string | null, head: Head): Action {
  const ttl = head.endsAt === undefined ? undefined : Math.ceil(head.endsAt / 1000);
  const item = { values: { [table.ttlAttribute]: ttl, ...head }, ...headKey(memoryId) };
  const expression = "attribute_not_exists(#p) OR endsAt <= :now";
  if (expected === null) return table.put(item, { expression, values: { ":now": Date.now() } });
  // An update that begins a memory may be resent after a delete: its version then has another life.
  const values = { ":expected": expected, ":life": head.life };
  return table.put(item, { expression: "version = :expected AND life = :life", values });
}

/**
 * What the head stores about the rows and marks that an update adds: their keys in short, `m/6 s/0/5`. Of a kind that it
 * adds none of, those of an earlier one remain, without rows that are gone.
 */
export function encodeFresh(
  before: string | undefined,
  added: readonly TableItem[],
  gone: readonly TableItem[],
): string | undefined {
  const shortened = ({ sort }: TableItem): string =>
    sort.slice(sort.indexOf("/") + 1).replace(/\b0+(?=\d)/g, "");
  const names = added.map(shortened);
  const goneNames = gone.map(shortened);
  const kinds = new Set(names.map((name) => name[0]));
  const kept = before?.split(" ").filter((name) => !kinds.has(name[0]) && !goneNames.includes(name)) ?? [];
  return [...kept, ...names].join(" ") || undefined;
}

/** The sort keys that {@link encodeFresh} was given. */
export function freshKeys({ prefix }: Life, fresh: string | undefined): string[] {
  const names = fresh?.split(" ") ?? [];
  return names.map((name) => prefix + name.replace(/\d+/g, (digits) => padded(Number(digits))));
}
