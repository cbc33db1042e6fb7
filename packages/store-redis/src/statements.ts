import type { MemoryUpdate, MessageState } from "@turnkeep/core";
import { type FoldedUpdate, isPlain, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import { type Entry, memberOf, recordOf } from "./records.ts";
import { mostPlainMoves, type Script, scripts } from "./scripts.ts";

/** One call of a script: atomic, on keys of one slot. Results are texts, null, and lists of these. */
export interface Statement<Answer> {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
  /** Never set: the type of the result. */
  readonly answer?: Answer;
}

type Records = readonly (readonly (string | null)[])[];

/** `live`: how many there are. Behind these, when it expires. */
type HeadAnswer = readonly [
  version: string,
  next: string | null,
  owner: string | null,
  head: string | null,
  live: string | null,
];

/** Some of the memory's keys are gone, and others are not. */
type LostAnswer = readonly ["lost"];

/**
 * The head, then the live seqs and their records in portions. Empty: no such memory. Only the head: the memory is at
 * the known version.
 */
export type SnapshotAnswer =
  | LostAnswer
  | readonly [head?: HeadAnswer, seqs?: readonly string[], ...records: Records];

/** `done` comes with the entry of an earlier life that had expired, a refusal with the current life. */
export type BeginAnswer =
  | readonly ["done", ...replaced: [] | [life: string, owner: string | null]]
  | readonly ["replayed" | "conflict", life: string | null]
  | readonly ["late"]
  | LostAnswer;

export type ChangeAnswer = "done" | "replayed" | "conflict" | "disagrees";

export type RemoveAnswer = "removed" | "present" | "absent" | "conflict";

/** The named messages that exist. Empty: no such memory. */
export type LookAnswer = readonly [
  version?: string,
  next?: string | null,
  live?: string | null,
  rows?: readonly (readonly [seq: string, state: MessageState, id: string])[],
];

/** Empty: no such memory. */
export type HistoryAnswer =
  | LostAnswer
  | readonly [states?: readonly MessageState[], seqs?: readonly string[], ...records: Records];

/** Tells a valid index entry from one that was left behind. Empty: no such memory. */
export type PeekAnswer = readonly [
  life?: string,
  owner?: string | null,
  updated?: string,
  present?: "yes" | "no",
];

export type PolicyAnswer = readonly [policy?: string, maxmemory?: string];

/** Members of the index and their positions in it. */
export type PageAnswer = readonly (readonly [member: string, place: string])[];

/** The scripts' calls for the contract's methods. */
export class Statements {
  readonly #prefix: string;
  readonly #ttl: string;

  constructor(prefix: string, ttlMs: number | undefined) {
    this.#prefix = prefix;
    this.#ttl = ttlMs?.toString() ?? "";
  }

  /** Only the head if the memory is at the known version. */
  read(memoryId: string, known = ""): Statement<SnapshotAnswer> {
    return { script: scripts.read, keys: this.#keysOf(memoryId, 3), values: [known] };
  }

  /** `entered`: the answer of {@link enter}. */
  begin(entry: Entry, entered: string, update: MemoryUpdate, folded: FoldedUpdate): Statement<BeginAnswer> {
    const fields = fieldsOf(update);
    if (entry.owner !== undefined) fields.push("owner", entry.owner);
    const values = ["", "", this.#ttl, entry.life, entered, 7 + fields.length, ...fields];
    for (const row of folded.insert) values.push(row.seq, row.state, row.id, recordOf(row));
    return { script: scripts.begin, keys: this.#keysOf(entry.memoryId), values };
  }

  /** A change that {@link isLean}. If the database finds that it is not, it does nothing and returns `other`. */
  plain(memoryId: string, update: MemoryUpdate, folded: FoldedUpdate): Statement<ChangeAnswer | "other"> {
    const { insert, setState } = folded;
    const values = this.#changeOf(update, 2 * setState.length, 0);
    for (const { seq } of setState) values.push(seq, seq);
    for (const row of insert) values.push(row.seq, row.id, recordOf(row));
    // All of them must expire together.
    const keys = this.#ttl !== "" ? keyNames.length : setState.length > 0 ? 5 : 4;
    return { script: scripts.plain, keys: this.#keysOf(memoryId, keys), values };
  }

  /** Changes a memory that is at the expected version and agrees with the update. */
  change(memoryId: string, update: MemoryUpdate, folded: FoldedUpdate): Statement<ChangeAnswer> {
    const { insert, replaced, moved } = folded;
    const values = this.#changeOf(update, 2 * moved.length, 4 * replaced.length);
    for (const { seq, state } of moved) values.push(seq, state);
    for (const row of [...replaced, ...insert]) values.push(row.seq, row.state, row.id, recordOf(row));
    return { script: scripts.change, keys: this.#keysOf(memoryId), values };
  }

  /** Tells why an update was refused. */
  look(memoryId: string, seqs: readonly number[]): Statement<LookAnswer> {
    return { script: scripts.look, keys: this.#keysOf(memoryId), values: seqs };
  }

  /** The ids of messages whose record is lost or damaged, `""` where that is lost too. */
  idsOf(memoryId: string, seqs: readonly string[]): Statement<readonly string[]> {
    return { script: scripts.idsOf, keys: this.#keysOf(memoryId, 4), values: seqs };
  }

  /** One message more than the limit means that there are more. */
  history(memoryId: string, query: NormalHistoryQuery): Statement<HistoryAnswer> {
    const { after, before, order, limit, states, ids } = query;
    const range =
      order === "ascending" ? ["ZRANGEBYSCORE", after, before] : ["ZREVRANGEBYSCORE", before, after];
    const values = [...range, limit + 1, states.length, ...states];
    if (ids !== undefined) values.push("ids", ...ids);
    return { script: scripts.history, keys: this.#keysOf(memoryId), values };
  }

  peek(memoryId: string): Statement<PeekAnswer> {
    return { script: scripts.peek, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Removes that life of a memory and no other; `""` stands for what remains when the head is gone. */
  remove(
    memoryId: string,
    life: string,
    { only = "", expected = "" }: { only?: "expired" | ""; expected?: string | undefined } = {},
  ): Statement<RemoveAnswer> {
    return { script: scripts.remove, keys: this.#keysOf(memoryId), values: [life, only, expected] };
  }

  /** Of the server that has this memory. */
  policy(memoryId: string): Statement<PolicyAnswer> {
    return { script: scripts.policy, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Lists an entry before its memory begins. Returns its position, in microseconds of the server's clock. */
  enter(entry: Entry): Statement<string> {
    const keys = [this.#index("last"), ...this.#listsOf(entry.owner)];
    return { script: scripts.enter, keys, values: [memberOf(entry)] };
  }

  /** Removes an entry if it is at least this old; `"1"` if it was. */
  leave(entry: Entry, olderThan: number): Statement<"0" | "1"> {
    return { script: scripts.leave, keys: this.#listsOf(entry.owner), values: [memberOf(entry), olderThan] };
  }

  /** Rewrites an existing value on this connection, because `WAIT` covers only a connection's own writes. */
  touch(): Statement<unknown> {
    return { script: scripts.touch, keys: [this.#index("last")], values: [] };
  }

  /** In the order in which the memories began, after that position. */
  page(owner: string | undefined, after: string, limit: number): Statement<PageAnswer> {
    return { script: scripts.page, keys: this.#listsOf(owner).slice(-1), values: [after, limit] };
  }

  /** The beginning of every change: the expected version, where its lists begin, and the head's fields. */
  #changeOf(update: MemoryUpdate, moves: number, replacements: number): (string | number)[] {
    const { expected, append, nextSeq } = update;
    const fields = fieldsOf(update);
    const movedAt = 7 + fields.length;
    const replacedAt = movedAt + moves;
    const first = append[0]?.seq ?? nextSeq;
    return [expected ?? "", first, this.#ttl, movedAt, replacedAt, replacedAt + replacements, ...fields];
  }

  /** The first of a memory's keys. The id is encoded, so that braces in it cannot move them to another slot. */
  #keysOf(memoryId: string, count: number = keyNames.length): string[] {
    const key = `${this.#prefix}memory:{${encoded(memoryId)}}:`;
    return keyNames.slice(0, count).map((name) => key + name);
  }

  /** All entries, then those of the owner. */
  #listsOf(owner: string | undefined): string[] {
    const all = this.#index("all");
    return owner === undefined ? [all] : [all, this.#index(`owner:${encoded(owner)}`)];
  }

  #index(name: string): string {
    return `${this.#prefix}index:{index}:${name}`;
  }
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** In the order in which the scripts take them. */
const keyNames = ["head", "live", "messages", "ids", "evicted", "superseded"];

/** Fields of the head, the version first. */
function fieldsOf({ version, nextSeq, head }: MemoryUpdate): (string | number)[] {
  const fields = ["version", version, "next", nextSeq];
  if (head !== undefined) fields.push("head", head);
  return fields;
}

/** Whether {@link Statements.plain} can make the change: new messages stay, and a few others are evicted. */
export function isLean(folded: FoldedUpdate): boolean {
  const { insert, setState } = folded;
  return (
    isPlain(folded) && setState.length <= mostPlainMoves && insert.every(({ state }) => state === "live")
  );
}
