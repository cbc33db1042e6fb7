import { type FoldedUpdate, isPlain, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import { type IndexEntry, memberOf, recordOf } from "./records.ts";
import { type Answers, mostPlainMoves, type Script, scripts } from "./scripts.ts";

/** One call of a script. */
export interface Statement<Answer> {
  readonly script: Script<Answer>;
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

type Call<Name extends keyof Answers> = Statement<Answers[Name]>;

/** The scripts' calls, on the keys of a memory or of the index. */
export class Statements {
  readonly #prefix: string;
  readonly #ttl: string;

  constructor(prefix: string, ttlMs: number | undefined) {
    this.#prefix = prefix;
    this.#ttl = ttlMs?.toString() ?? "";
  }

  read(memoryId: string, known = ""): Call<"read"> {
    return { script: scripts.read, keys: this.#keysOf(memoryId, 3), values: [known] };
  }

  /** `entered`: the answer of {@link enter}. */
  begin(entry: IndexEntry, entered: string, update: FoldedUpdate): Call<"begin"> {
    const fields = fieldsOf(update);
    if (entry.owner !== undefined) fields.push("owner", entry.owner);
    const values = ["", "", this.#ttl, entry.life, entered, 7 + fields.length, ...fields];
    for (const row of update.insert) values.push(row.seq, row.state, row.id, recordOf(row));
    return { script: scripts.begin, keys: this.#keysOf(entry.memoryId), values };
  }

  /** A change that {@link isLean}. If the database finds that it is not, it does nothing and returns `other`. */
  plain(memoryId: string, update: FoldedUpdate): Call<"plain"> {
    const { insert, setState } = update;
    const values = this.#changeOf(update, 2 * setState.length, 0);
    for (const { seq } of setState) values.push(seq, seq);
    for (const row of insert) values.push(row.seq, row.id, recordOf(row));
    // All of them must expire together.
    const keys = this.#ttl !== "" ? keyNames.length : setState.length > 0 ? 5 : 4;
    return { script: scripts.plain, keys: this.#keysOf(memoryId, keys), values };
  }

  /** Changes a memory that is at the expected version and agrees with the update. */
  change(memoryId: string, update: FoldedUpdate): Call<"change"> {
    const { insert, replaced, moved } = update;
    const values = this.#changeOf(update, 2 * moved.length, 4 * replaced.length);
    for (const { seq, state } of moved) values.push(seq, state);
    for (const row of [...replaced, ...insert]) values.push(row.seq, row.state, row.id, recordOf(row));
    return { script: scripts.change, keys: this.#keysOf(memoryId), values };
  }

  /** Tells why an update was refused, and the ids of messages whose record is lost or damaged. */
  look(memoryId: string, seqs: readonly number[]): Call<"look"> {
    return { script: scripts.look, keys: this.#keysOf(memoryId), values: seqs };
  }

  /** One message more than the limit means that there are more. */
  history(memoryId: string, query: NormalHistoryQuery): Call<"history"> {
    const { after, before, order, limit, states, ids } = query;
    const range =
      order === "ascending" ? ["ZRANGEBYSCORE", after, before] : ["ZREVRANGEBYSCORE", before, after];
    const values = [...range, limit + 1, states.length, ...states];
    if (ids !== undefined) values.push("ids", ...ids);
    return { script: scripts.history, keys: this.#keysOf(memoryId), values };
  }

  peek(memoryId: string): Call<"peek"> {
    return { script: scripts.peek, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Removes that life of a memory and no other; `""` stands for what remains when the head is gone. */
  remove(memoryId: string, life: string, expected = ""): Call<"remove"> {
    return { script: scripts.remove, keys: this.#keysOf(memoryId), values: [life, "", expected] };
  }

  removeExpired({ memoryId, life }: IndexEntry): Call<"remove"> {
    return { script: scripts.remove, keys: this.#keysOf(memoryId), values: [life, "expired", ""] };
  }

  /** Of the server that has this memory. */
  policy(memoryId: string): Call<"policy"> {
    return { script: scripts.policy, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Lists an entry before its memory begins. */
  enter(entry: IndexEntry): Call<"enter"> {
    const keys = [this.#index("last"), ...this.#listsOf(entry.owner)];
    return { script: scripts.enter, keys, values: [memberOf(entry)] };
  }

  /** Removes an entry if it is at least this old. */
  leave(entry: IndexEntry, olderThan: number): Call<"leave"> {
    return { script: scripts.leave, keys: this.#listsOf(entry.owner), values: [memberOf(entry), olderThan] };
  }

  /** Rewrites an existing value on this connection, because `WAIT` covers only a connection's own writes. */
  touch(): Call<"touch"> {
    return { script: scripts.touch, keys: [this.#index("last")], values: [] };
  }

  /** In the order in which the memories began, after that position. */
  page(owner: string | undefined, after: string, limit: number): Call<"page"> {
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
