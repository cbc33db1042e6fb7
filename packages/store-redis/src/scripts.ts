import { createHash } from "node:crypto";
import type { MessageState } from "@turnkeep/core";
import { type FoldedUpdate, isPlain, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import { mostPlainMoves, texts } from "./lua.ts";
import { type IndexEntry, memberOf, recordOf } from "./records.ts";

/** A Lua script and the name under which Redis keeps it. It is atomic, on keys of one slot. */
export interface Script<Answer> {
  readonly text: string;
  readonly sha: string;
  /** It changes nothing, so it may be sent again. */
  readonly reads: boolean;
  /** Never set: the type of the result. */
  readonly answer?: Answer;
}

/** What the scripts answer. An empty list: no such memory. `lost`: some of its keys are gone, and others are not. */
export interface Answers {
  /** The head, then the live seqs and their records in portions. Only the head: the memory is at the known version. */
  readonly read: Lost | readonly [head?: Head, seqs?: readonly string[], ...records: Portions];
  /** With an earlier life that had expired and its owner, or with the life that is in the way. */
  readonly begin: readonly ["done" | "replayed" | "conflict" | "late" | "lost", life?: Text, owner?: Text];
  /** `other`: the change is not plain, and nothing was done. */
  readonly plain: Outcome | "other";
  readonly change: Outcome;
  readonly look: readonly [version?: string, next?: Text, live?: Text, rows?: readonly NamedRow[]];
  readonly history:
    | Lost
    | readonly [states?: readonly MessageState[], seqs?: readonly string[], ...records: Portions];
  /** Tells a valid index entry from one that was left behind. */
  readonly peek: readonly [life?: string, owner?: Text, updated?: string, present?: "yes" | "no"];
  readonly remove: "removed" | "present" | "absent" | "conflict";
  /** The entry's position in the index, in microseconds of the server's clock. */
  readonly enter: string;
  /** `"1"` if the entry was there, and as old as asked. */
  readonly leave: "0" | "1";
  readonly touch: unknown;
  /** How the server makes room, and whether it ever must; empty if it does not say. */
  readonly policy: readonly [policy?: string, maxmemory?: string];
  readonly page: readonly (readonly [member: string, position: string])[];
}

export type Outcome = "done" | "replayed" | "conflict" | "disagrees";

type Text = string | null;
type Lost = readonly ["lost"];
/** `live`: how many there are. Behind these, when it expires. */
type Head = readonly [version: string, next: Text, owner: Text, head: Text, live: Text];
/** Of a named message that exists; an id that is lost is `""`. */
type NamedRow = readonly [seq: string, state: MessageState, id: string];
/** Records, `null` where there is none. */
export type Portions = readonly (readonly Text[])[];

const reading = new Set(["read", "look", "history", "peek", "policy", "page"]);

/** The scripts, by what they do. */
export const scripts: { readonly [Name in keyof Answers]: Script<Answers[Name]> } = Object.fromEntries(
  Object.entries(texts).map(([name, text]) => [name, { text, sha: sha1(text), reads: reading.has(name) }]),
) as Record<keyof Answers, Script<never>>;

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}

/** One call of a script. */
export interface Statement<Answer> {
  readonly script: Script<Answer>;
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

type StatementOf<Name extends keyof Answers> = Statement<Answers[Name]>;

/** The scripts' calls, on the keys of a memory or of the index. */
export class Statements {
  readonly #prefix: string;
  readonly #ttl: string;

  constructor(prefix: string, ttlMs: number | undefined) {
    this.#prefix = prefix;
    this.#ttl = ttlMs?.toString() ?? "";
  }

  read(memoryId: string, known = ""): StatementOf<"read"> {
    return { script: scripts.read, keys: this.#keysOf(memoryId, 3), values: [known] };
  }

  /** `entered`: the answer of {@link enter}. */
  begin(entry: IndexEntry, entered: string, update: FoldedUpdate): StatementOf<"begin"> {
    const fields = fieldsOf(update);
    if (entry.owner !== undefined) fields.push("owner", entry.owner);
    const values = ["", "", this.#ttl, entry.life, entered, 7 + fields.length, ...fields];
    for (const row of update.insert) values.push(row.seq, row.state, row.id, recordOf(row));
    return { script: scripts.begin, keys: this.#keysOf(entry.memoryId), values };
  }

  /** A change that {@link isLean}. If the database finds that it is not, it does nothing and returns `other`. */
  plain(memoryId: string, update: FoldedUpdate): StatementOf<"plain"> {
    const { insert, setState } = update;
    const values = this.#changeOf(update, 2 * setState.length, 0);
    for (const { seq } of setState) values.push(seq, seq);
    for (const row of insert) values.push(row.seq, row.id, recordOf(row));
    // All of them must expire together.
    const keys = this.#ttl !== "" ? keyNames.length : setState.length > 0 ? 5 : 4;
    return { script: scripts.plain, keys: this.#keysOf(memoryId, keys), values };
  }

  /** Changes a memory that is at the expected version and agrees with the update. */
  change(memoryId: string, update: FoldedUpdate): StatementOf<"change"> {
    const { insert, replaced, moved } = update;
    const values = this.#changeOf(update, 2 * moved.length, 4 * replaced.length);
    for (const { seq, state } of moved) values.push(seq, state);
    for (const row of [...replaced, ...insert]) values.push(row.seq, row.state, row.id, recordOf(row));
    return { script: scripts.change, keys: this.#keysOf(memoryId), values };
  }

  /** Tells why an update was refused, and the ids of messages whose record is lost or damaged. */
  look(memoryId: string, seqs: readonly number[]): StatementOf<"look"> {
    return { script: scripts.look, keys: this.#keysOf(memoryId), values: seqs };
  }

  /** One message more than the limit means that there are more. */
  history(memoryId: string, query: NormalHistoryQuery): StatementOf<"history"> {
    const { after, before, order, limit, states, ids } = query;
    const range =
      order === "ascending" ? ["ZRANGEBYSCORE", after, before] : ["ZREVRANGEBYSCORE", before, after];
    const values = [...range, limit + 1, states.length, ...states];
    if (ids !== undefined) values.push("ids", ...ids);
    return { script: scripts.history, keys: this.#keysOf(memoryId), values };
  }

  peek(memoryId: string): StatementOf<"peek"> {
    return { script: scripts.peek, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Removes that life of a memory and no other; `""` stands for what remains when the head is gone. */
  remove(memoryId: string, life: string, expected = ""): StatementOf<"remove"> {
    return { script: scripts.remove, keys: this.#keysOf(memoryId), values: [life, "", expected] };
  }

  removeExpired({ memoryId, life }: IndexEntry): StatementOf<"remove"> {
    return { script: scripts.remove, keys: this.#keysOf(memoryId), values: [life, "expired", ""] };
  }

  /** Of the server that has this memory. */
  policy(memoryId: string): StatementOf<"policy"> {
    return { script: scripts.policy, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Lists an entry before its memory begins. */
  enter(entry: IndexEntry): StatementOf<"enter"> {
    const keys = [this.#index("last"), ...this.#listsOf(entry.owner)];
    return { script: scripts.enter, keys, values: [memberOf(entry)] };
  }

  /** Removes an entry if it is at least this old. */
  leave(entry: IndexEntry, olderThan: number): StatementOf<"leave"> {
    return { script: scripts.leave, keys: this.#listsOf(entry.owner), values: [memberOf(entry), olderThan] };
  }

  /** Rewrites an existing value on this connection, because `WAIT` covers only a connection's own writes. */
  touch(): StatementOf<"touch"> {
    return { script: scripts.touch, keys: [this.#index("last")], values: [] };
  }

  /** In the order in which the memories began, after that position. */
  page(owner: string | undefined, after: string, limit: number): StatementOf<"page"> {
    return { script: scripts.page, keys: this.#listsOf(owner).slice(-1), values: [after, limit] };
  }

  /** The beginning of every change: the expected version, where its lists begin, and the head's fields. */
  #changeOf(update: FoldedUpdate, moves: number, replacements: number): (string | number)[] {
    const { expected, appended, nextSeq } = update;
    const fields = fieldsOf(update);
    const movedAt = 7 + fields.length;
    const replacedAt = movedAt + moves;
    const first = appended[0]?.seq ?? nextSeq;
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
function fieldsOf({ version, nextSeq, head }: FoldedUpdate): (string | number)[] {
  const fields = ["version", version, "next", nextSeq];
  if (head !== undefined) fields.push("head", head);
  return fields;
}

/** Whether {@link Statements.plain} can make the change: new messages stay, and a few others are evicted. */
export function isLean(update: FoldedUpdate): boolean {
  const { insert, setState } = update;
  return (
    isPlain(update) && setState.length <= mostPlainMoves && insert.every(({ state }) => state === "live")
  );
}
