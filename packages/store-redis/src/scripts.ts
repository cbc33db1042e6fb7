import { createHash } from "node:crypto";
import type { MessageState, StoredMessage } from "@turnkeep/core";
import {
  type FoldedUpdate,
  isPlain,
  type NormalHistoryQuery,
  type NormalListQuery,
} from "@turnkeep/core/store-kit";
import { listTexts } from "./lists.ts";
import { changing, mostPlain, texts } from "./lua.ts";
import { defaultActivityMs, type NormalOptions } from "./options.ts";
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
  /** Fields and values of the head. Behind a `null`, five of its values: the memory is at the known version. */
  readonly read: Lost | readonly Text[];
  /** `again`, `open`: this attempt has begun it before, and it is still as it was begun, or no longer. */
  readonly begin: "done" | "replayed" | "conflict" | "again" | "open" | "late" | "lost";
  /** `other`: the change is not plain, and nothing was done. */
  readonly plain: Outcome | Due | "other";
  readonly change: Outcome | Due;
  readonly assign: Outcome | Due | "late";
  readonly look: readonly [version?: string, next?: Text, count?: Text, rows?: readonly NamedRow[]];
  readonly history: Lost | readonly [head?: Head, ...page: HistoryRow[]];
  /** Tells a valid index entry from one that was left behind. */
  readonly peek: readonly [life: Text, owner: Text, version: Text, updated: Text, data: Text];
  readonly remove: "removed" | "absent" | "conflict";
  /** When the entry was listed, in microseconds of the server's clock. */
  readonly enter: string;
  readonly note: unknown;
  /** `"1"` if the entry was there, and as old as asked. */
  readonly leave: "0" | "1";
  readonly touch: unknown;
  /** How the server makes room, and whether it ever must; empty if it does not say. */
  readonly policy: readonly [policy?: string, maxmemory?: string];
  readonly page: readonly (readonly [member: string, position: string])[];
}

export type Outcome = "done" | "replayed" | "conflict" | "disagrees";

type Text = string | null;
/** The change is done, and the activity of the memory with that entry must be noted. */
export type Due = readonly ["due", life: Text, owner: Text];
/** Its version, next seq, owner, head and data. */
export type Head = readonly (Text | undefined)[];
type Lost = readonly ["lost"];
/** With an id if the record has none that can be read. */
type HistoryRow = readonly [seq: string, state: MessageState, record: Text, id: string];
/** Of a message that exists; an id that is lost is `""`. */
type NamedRow = readonly [seq: string, state: MessageState, id: string];

const reading = new Set(["read", "look", "history", "peek", "policy", "page"]);

type Scripts = { readonly [Name in keyof Answers]: Script<Answers[Name]> };

/** The scripts of a store, by what they do. */
export function scriptsOf(activityMs: number): Scripts {
  const all = { ...texts, ...listTexts, ...changing(activityMs) };
  return Object.fromEntries(
    Object.entries(all).map(([name, text]) => [name, { text, sha: sha1(text), reads: reading.has(name) }]),
  ) as Record<keyof Answers, Script<never>>;
}

/** With the default of `activityMs`. */
export const scripts: Scripts = scriptsOf(defaultActivityMs);

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}

/** One call of a script. */
export interface Statement<Answer> {
  readonly script: Script<Answer>;
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
  /** Commands that do the same for less, where they read from the server that takes the writes. */
  readonly plain?: Plain<Answer>;
}

export interface Plain<Answer> {
  readonly commands: readonly (readonly [command: string, ...keys: string[]])[];
  /** `undefined`: only the script can tell. */
  answer(replies: readonly unknown[]): Answer | undefined;
}

type StatementOf<Name extends keyof Answers> = Statement<Answers[Name]>;

/** The scripts' calls, on the keys of a memory or of the index. */
export class Statements {
  readonly #prefix: string;
  readonly #ttlMs: number | undefined;
  readonly #scripts: Scripts;

  constructor({ prefix, ttlMs, activityMs }: Pick<NormalOptions, "prefix" | "ttlMs" | "activityMs">) {
    this.#prefix = prefix;
    this.#ttlMs = ttlMs;
    this.#scripts = activityMs === defaultActivityMs ? scripts : scriptsOf(activityMs);
  }

  /** In one script; or in plain commands, which hand over records several times as fast, but cannot ask for a version. */
  read(memoryId: string, known?: string): StatementOf<"read"> {
    const keys = this.#keysOf(memoryId, 3);
    const [head = "", ...others] = keys;
    const plain: Plain<Answers["read"]> = {
      commands: [
        ["hgetall", head],
        ["exists", ...others],
      ],
      answer([fields, present]) {
        const answer = listOf(fields);
        // Parts without a head may be those of a memory that has just begun.
        return answer.length === 0 && Number(present) > 0 ? undefined : answer;
      },
    };
    const statement = { script: scripts.read, keys, values: [known ?? ""] };
    return known === undefined ? { ...statement, plain } : statement;
  }

  /** `entered`: the answer of {@link enter}. */
  begin(entry: IndexEntry, entered: string, update: FoldedUpdate): StatementOf<"begin"> {
    const fields = fieldsOf(update);
    if (entry.owner !== undefined) fields.push("owner", entry.owner);
    const values = this.#valuesOf(update, fields, [entry.life, entered], update.insert.flatMap(rowOf));
    return { script: scripts.begin, keys: this.#keysOf(entry.memoryId), values };
  }

  /** A change that {@link isLean}. If the database finds that it is not, it does nothing and returns `other`. */
  plain(memoryId: string, update: FoldedUpdate): StatementOf<"plain"> {
    const { insert, moved } = update;
    const fields = fieldsOf(update);
    for (const row of insert) fields.push(row.seq, recordOf(row));
    const ids = insert.flatMap(({ id, seq }) => [id, seq]);
    const values = this.#valuesOf(update, fields, ids);
    // All of them must expire together.
    const keys = this.#livesOf(update) === "" && moved.length === 0 ? 2 : keyNames.length;
    return { script: this.#scripts.plain, keys: this.#keysOf(memoryId, keys), values };
  }

  /** Changes a memory that is at the expected version and agrees with the update. */
  change(memoryId: string, update: FoldedUpdate): StatementOf<"change"> {
    return this.#change(this.#scripts.change, memoryId, update, []);
  }

  /** The same, and the memory has that entry from then on. `entered`: the answer of {@link enter}. */
  assign(
    { memoryId, life, owner = "" }: IndexEntry,
    entered: string,
    update: FoldedUpdate,
  ): StatementOf<"assign"> {
    const fields = ["active", entered, "life", life, "owner", owner];
    return this.#change(this.#scripts.assign, memoryId, update, fields);
  }

  #change<A>(script: Script<A>, memoryId: string, update: FoldedUpdate, fields: Values): Statement<A> {
    const { insert, replaced, moved } = update;
    const changed = [
      ...moved.flatMap(({ seq, state }) => [seq, state, "", ""]),
      ...replaced.flatMap((row) => rowOf(row.was === undefined ? row : { ...row, state: `>${row.state}` })),
    ];
    const values = this.#valuesOf(update, [...fields, ...fieldsOf(update)], changed, insert.flatMap(rowOf));
    return { script, keys: this.#keysOf(memoryId), values };
  }

  /** Tells why an update was refused. */
  look(memoryId: string, seqs: readonly number[]): StatementOf<"look"> {
    return { script: scripts.look, keys: this.#keysOf(memoryId), values: seqs };
  }

  /** One message more than the limit means that there are more. */
  history(memoryId: string, query: NormalHistoryQuery): StatementOf<"history"> {
    const { after, before, order, limit, states, ids } = query;
    const direction = order === "ascending" ? 1 : -1;
    const values: Values = [direction, after, before, limit + 1, states.length, ...states];
    if (ids !== undefined) values.push("ids", ...ids);
    return { script: scripts.history, keys: this.#keysOf(memoryId), values };
  }

  peek(memoryId: string): StatementOf<"peek"> {
    return { script: scripts.peek, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Removes that life of a memory and no other; `""` stands for what remains when the head is gone. */
  remove(memoryId: string, life: string, expected = ""): StatementOf<"remove"> {
    return { script: scripts.remove, keys: this.#keysOf(memoryId), values: [life, expected] };
  }

  /** Of the server that has this memory. */
  policy(memoryId: string): StatementOf<"policy"> {
    return { script: scripts.policy, keys: this.#keysOf(memoryId, 1), values: [] };
  }

  /** Lists an entry before its memory has it; among all where the one was that it has. */
  enter(entry: IndexEntry, before?: IndexEntry): StatementOf<"enter"> {
    const values = [memberOf(entry), before === undefined ? "" : memberOf(before)];
    return { script: scripts.enter, keys: this.#lastAndLists(entry), values };
  }

  /** Lists an entry as the newest, if it is listed. */
  note(entry: IndexEntry): StatementOf<"note"> {
    return { script: scripts.note, keys: this.#lastAndLists(entry), values: [memberOf(entry)] };
  }

  /** Removes an entry if it is at least this old. */
  leave(entry: IndexEntry, olderThan: number): StatementOf<"leave"> {
    return { script: scripts.leave, keys: this.#listsOf(entry.owner), values: [memberOf(entry), olderThan] };
  }

  /** Rewrites an existing value on this connection, because `WAIT` covers only a connection's own writes. */
  touch(): StatementOf<"touch"> {
    return { script: scripts.touch, keys: [this.#index("last")], values: [] };
  }

  /** After that position. */
  page({
    owner,
    order,
    after,
    limit,
  }: Omit<NormalListQuery, "after"> & { after: string }): StatementOf<"page"> {
    const [stored, newest] = this.#listsOf(owner).slice(-2) as [string, string];
    return order === "newest"
      ? { script: scripts.page, keys: [newest], values: [after, "-inf", limit, "REV"] }
      : { script: scripts.page, keys: [stored], values: [after, "+inf", limit] };
  }

  /** As all scripts that write take them. */
  #valuesOf(update: FoldedUpdate, fields: Values, list: Values, rows: Values = []): Values {
    const { expected, version, first, insert } = update;
    const listAt = 9 + fields.length;
    const added = insert.filter(({ state }) => state === "live").length;
    const start = [expected ?? "", version, first, this.#livesOf(update), added];
    const places = [listAt, listAt + list.length, listAt + list.length + rows.length];
    return [...start, ...places, ...fields, ...list, ...rows, ...runsOf(update)];
  }

  /** How long the memory lives after an update; `""`: for ever. */
  #livesOf({ ttlMs = this.#ttlMs }: FoldedUpdate): number | "" {
    return ttlMs ?? "";
  }

  /** The first of a memory's keys. The id is encoded, so that braces in it cannot move them to another slot. */
  #keysOf(memoryId: string, count: number = keyNames.length): string[] {
    const key = `${this.#prefix}memory:{${encoded(memoryId)}}:`;
    return keyNames.slice(0, count).map((name) => key + name);
  }

  #lastAndLists({ owner }: IndexEntry): string[] {
    return [this.#index("last"), ...this.#listsOf(owner)];
  }

  /** All entries, then those of the owner; each by place and by activity. */
  #listsOf(owner: string | undefined): string[] {
    const lists = owner === undefined ? ["all"] : ["all", `owner:${encoded(owner)}`];
    return lists.flatMap((list) => [this.#index(list), this.#index(`newest:${list}`)]);
  }

  #index(name: string): string {
    return `${this.#prefix}index:{index}:${name}`;
  }
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** In the order in which the scripts take them. */
export const keyNames: readonly string[] = ["head", "ids", "messages", "states"];

type Values = (string | number)[];

function rowOf(row: StoredMessage & { readonly state: string }): Values {
  return [row.seq, row.state, row.id, recordOf(row)];
}

/** What a change writes into the head whatever else it does; the scripts add the rest. */
function fieldsOf({ nextSeq, head, data }: FoldedUpdate): Values {
  const fields: Values = ["next", nextSeq];
  if (head !== undefined) fields.push("head", head);
  if (data !== undefined) fields.push("data", data);
  return fields;
}

/** The first seq, the last seq and the state of each run of messages whose state changes, or is not live from the start. */
function runsOf({ moved, replaced, insert }: FoldedUpdate): Values {
  const runs: [first: number, last: number, state: string][] = [];
  const changed = replaced.filter(({ state, was = "live" }) => state !== was);
  const left = insert.filter(({ state }) => state !== "live");
  for (const { seq, state } of [...moved, ...changed, ...left]) {
    const run = runs.at(-1);
    if (run?.[1] === seq - 1 && run[2] === state) run[1] = seq;
    else runs.push([seq, seq, state]);
  }
  return runs.flat();
}

/** Fields and values in a row, of a reply that a driver may have made an object or a map of. */
function listOf(reply: unknown): readonly string[] {
  if (Array.isArray(reply)) return reply;
  return [...(reply instanceof Map ? reply : Object.entries(reply as object))].flat();
}

/** Whether {@link Statements.plain} can make the change: new messages stay, and others are evicted, not too many. */
export function isLean(update: FoldedUpdate): boolean {
  const { insert, moved } = update;
  const isMore = Math.max(insert.length, moved.length) > mostPlain;
  return isPlain(update) && !isMore && insert.every(({ state }) => state === "live");
}
