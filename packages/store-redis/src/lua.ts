import { createHash } from "node:crypto";
import type { MemoryUpdate, MessageState, StoredMessage } from "@turnkeep/core";
import { corruptError, type FoldedUpdate, type NormalHistoryQuery } from "@turnkeep/core/store-kit";

/** A Lua script and the name under which Redis keeps it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** One call of a script: atomic, on keys of one slot. Answers are texts, null, and lists of these. */
export interface Statement<Answer> {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
  /** Never there: the type of the answer. */
  readonly answer?: Answer;
}

/** The head, then each live message; empty: no such memory. */
export type SnapshotAnswer =
  | readonly []
  | readonly [
      head: readonly [version: string, next: string, owner: string | null, head: string | null],
      /** Absent: it is at the version that is known. */
      rows?: readonly (readonly [seq: string, record: string])[],
    ];

/** `disagrees` brings the next seq, then seq, state and id of each message that the update names. */
export type WriteAnswer =
  | readonly ["done", ...replaced: [] | [life: string, owner: string | null]]
  | readonly ["replayed" | "conflict" | "late" | "corrupt"]
  | readonly ["disagrees", next: string, ...rows: string[]];

export type HistoryAnswer = readonly (readonly [seq: string, state: MessageState, record: string])[];

/** What tells an entry of the index from one that was left behind; empty: no such memory. */
export type PeekAnswer =
  | readonly []
  | readonly [life: string, owner: string | null, updated: string, present: "yes" | "no"];

/** Members of the index and their places in it. */
export type PageAnswer = readonly (readonly [member: string, place: string])[];

/** In microseconds: an entry of the index is used within the first, and cleared away only after the second. */
const entryIsUsedWithin = 10 * 60 * 1_000_000;
export const entryIsLeftBehindAfter: number = 60 * 60 * 1_000_000;

function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

// Keys of a memory: its head, the records by seq, the seqs by message id, and the seqs in each state. A change of state
// moves a seq, never a record. Seqs stay texts: a number of Lua loses its last digits when it becomes a text.
const keys = "local head, messages, ids = KEYS[1], KEYS[2], KEYS[3]";
const states = "local states = { live = KEYS[4], evicted = KEYS[5], superseded = KEYS[6] }";
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;
/** A time that cannot be read has not come: whoever reads the memory learns what is wrong. */
const past = `
local function past(expires)
  local at = tonumber(expires)
  return at and at <= now
end`;
const stateOf = `
local function stateOf(seq)
  for state, key in pairs(states) do
    if redis.call('ZSCORE', key, seq) then return state end
  end
end`;
/** In portions: Lua hands only some thousands of values to a function. */
const records = `
local function records(seqs)
  local found = {}
  for from = 1, #seqs, 500 do
    local to = math.min(from + 499, #seqs)
    for _, record in ipairs(redis.call('HMGET', messages, unpack(seqs, from, to))) do
      found[#found + 1] = record or ''
    end
  end
  return found
end`;

const readScript: Script = script(`
${keys}
${now}
${past}
${records}
local stored = redis.call('HMGET', head, 'version', 'next', 'owner', 'head', 'expires')
if not stored[1] or past(stored[5]) then return {} end
if stored[1] == ARGV[1] then return { { stored[1], stored[2], stored[3], stored[4] } } end
local seqs = redis.call('ZRANGE', KEYS[4], 0, -1)
local rows = {}
for i, record in ipairs(records(seqs)) do rows[i] = { seqs[i], record } end
return { { stored[1], stored[2], stored[3], stored[4] }, rows }`);

// A script does not roll back: it looks at everything before it writes anything. Its first write is HSET, which Redis
// refuses where it has no memory or no replicas left; once a script has written, Redis refuses it no more.
const writeScript: Script = script(`
${keys}
${states}
${now}
${past}
${stateOf}
local at = 0
local function arg()
  at = at + 1
  return ARGV[at]
end
local expected, version, next = arg(), arg(), arg()
local text, owner, ttl, life, entered = arg(), arg(), arg(), arg(), arg()
local stored = redis.call('HMGET', head, 'version', 'next', 'expires', 'life', 'owner')
local present = stored[1] and not past(stored[3])
if present and stored[1] == version then return { 'replayed' } end
if (present and stored[1] or '') ~= expected then return { 'conflict' } end
if present and not tonumber(stored[2]) then return { 'corrupt' } end

local was, idAt, seen = {}, {}, {}
local agrees = not present or tonumber(next) >= tonumber(stored[2])
local first = arg()
if present and first ~= '' and tonumber(first) < tonumber(stored[2]) then agrees = false end
for _ = 1, arg() do
  local seq, id, needsId = arg(), arg(), arg() == '1'
  was[seq] = present and stateOf(seq)
  if was[seq] then
    local record = needsId and redis.call('HGET', messages, seq) or ''
    local from = record:find('\\0', 1, true)
    local to = from and record:find('\\0', from + 1, true)
    idAt[seq] = to and record:sub(from + 1, to - 1) or ''
    for _, value in ipairs({ seq, was[seq], idAt[seq] }) do seen[#seen + 1] = value end
  end
  if not was[seq] or (id ~= '' and (was[seq] ~= 'live' or idAt[seq] ~= id)) then agrees = false end
end
if not agrees then
  table.insert(seen, 1, 'disagrees')
  table.insert(seen, 2, present and stored[2] or '1')
  return seen
end
if not present and now * 1000 - tonumber(entered) > ${entryIsUsedWithin} then return { 'late' } end

local fields = { 'version', version, 'next', next, 'updated', string.format('%.0f', now) }
local function set(field, value)
  fields[#fields + 1] = field
  fields[#fields + 1] = value
end
if text ~= '' then set('head', text:sub(2)) end
if ttl ~= '' then set('expires', string.format('%.0f', now + ttl)) end
if not present then
  set('life', life)
  if owner ~= '' then set('owner', owner) end
end
redis.call('HSET', head, unpack(fields))
if not present then
  redis.call('UNLINK', messages, ids, KEYS[4], KEYS[5], KEYS[6])
  if owner == '' then redis.call('HDEL', head, 'owner') end
  if text == '' then redis.call('HDEL', head, 'head') end
end
if ttl == '' and stored[3] then redis.call('HDEL', head, 'expires') end
local function place(seq, state)
  if was[seq] == state then return end
  if was[seq] then redis.call('ZREM', states[was[seq]], seq) end
  if state ~= 'removed' then redis.call('ZADD', states[state], seq, seq) end
end
for _ = 1, arg() do
  local seq, id, state, record = arg(), arg(), arg(), arg()
  redis.call('HSET', messages, seq, record)
  redis.call('HSET', ids, id, seq)
  place(seq, state)
end
for _ = 1, arg() do
  local seq, state, record = arg(), arg(), arg()
  redis.call('HSET', messages, seq, record)
  place(seq, state)
end
for _ = 1, arg() do
  local seq, state = arg(), arg()
  place(seq, state)
  if state == 'removed' then
    redis.call('HDEL', messages, seq)
    if redis.call('HGET', ids, idAt[seq]) == seq then redis.call('HDEL', ids, idAt[seq]) end
  end
end
if stored[4] and not present then return { 'done', stored[4], stored[5] } end
return { 'done' }`);

const historyScript: Script = script(`
${keys}
${states}
${now}
${past}
${stateOf}
${records}
local after, before, order, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local stored = redis.call('HMGET', head, 'version', 'expires')
if not stored[1] or past(stored[2]) then return {} end
local wanted, seqs, at = {}, {}, {}
for i = 6, 5 + ARGV[5] do wanted[ARGV[i]] = true end
local function number(seq) return tonumber(seq) or 0 end
local function take(seq, state)
  seqs[#seqs + 1] = seq
  at[seq] = state
end
local firstId = 6 + ARGV[5]
if ARGV[firstId] == 'ids' then
  for i = firstId + 1, #ARGV do
    local seq = redis.call('HGET', ids, ARGV[i])
    local state = seq and stateOf(seq)
    if wanted[state] and number(seq) > number(after) and number(seq) < number(before) then take(seq, state) end
  end
else
  for state in pairs(wanted) do
    local found
    if order == 'ascending' then
      found = redis.call('ZRANGEBYSCORE', states[state], '(' .. after, '(' .. before, 'LIMIT', 0, limit)
    else
      found = redis.call('ZREVRANGEBYSCORE', states[state], '(' .. before, '(' .. after, 'LIMIT', 0, limit)
    end
    for _, seq in ipairs(found) do take(seq, state) end
  end
end
table.sort(seqs, function(a, b)
  if order == 'ascending' then return number(a) < number(b) end
  return number(a) > number(b)
end)
for i = #seqs, limit + 1, -1 do seqs[i] = nil end
local answer = {}
for i, record in ipairs(records(seqs)) do answer[i] = { seqs[i], at[seqs[i]], record } end
return answer`);

const peekScript: Script = script(`
${now}
${past}
local stored = redis.call('HMGET', KEYS[1], 'life', 'owner', 'updated', 'expires')
if not stored[1] then return {} end
return { stored[1], stored[2], stored[3], past(stored[4]) and 'no' or 'yes' }`);

const removeScript: Script = script(`
${now}
${past}
local stored = redis.call('HMGET', KEYS[1], 'life', 'expires')
if (stored[1] or '') ~= ARGV[1] then return 'absent' end
if ARGV[2] == 'expired' and not past(stored[2]) then return 'present' end
redis.call('UNLINK', unpack(KEYS))
return 'removed'`);

const enterScript: Script = script(`
local time = redis.call('TIME')
local score = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('GET', KEYS[1]) or 0)
if score <= last then score = last + 1 end
local text = string.format('%.0f', score)
redis.call('SET', KEYS[1], text)
for i = 2, #KEYS do redis.call('ZADD', KEYS[i], text, ARGV[1]) end
return text`);

const leaveScript: Script = script(`
local time = redis.call('TIME')
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or time[1] * 1000000 + time[2] - tonumber(score) < tonumber(ARGV[2]) then return '0' end
for i = 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
return '1'`);

const pageScript: Script = script(`
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local rows = {}
for i = 1, #found, 2 do rows[#rows + 1] = { found[i], string.format('%.0f', tonumber(found[i + 1])) } end
return rows`);

/** Every script of the store, for tests. */
export const scripts: readonly Script[] = [
  readScript,
  writeScript,
  historyScript,
  peekScript,
  removeScript,
  enterScript,
  leaveScript,
  pageScript,
];

/** One attempt to begin a memory, as the index lists it. `life` is never used again. */
export interface Entry {
  readonly memoryId: string;
  readonly life: string;
  readonly owner: string | undefined;
}

/** The scripts' calls for the contract's methods. */
export class Statements {
  readonly #prefix: string;
  readonly #ttl: string;

  constructor(prefix: string, ttlMs: number | undefined) {
    this.#prefix = prefix;
    this.#ttl = ttlMs?.toString() ?? "";
  }

  /** The head alone where the memory is at the version that is known. */
  read(memoryId: string, known = ""): Statement<SnapshotAnswer> {
    return { script: readScript, keys: this.keysOf(memoryId), values: [known] };
  }

  /** `entered`: the answer of {@link enter} where the update begins the memory. */
  write(
    memoryId: string,
    update: MemoryUpdate,
    { insert, rewrite, setState, remove }: FoldedUpdate,
    entry: Entry,
    entered: string,
  ): Statement<WriteAnswer> {
    const { expected, version, nextSeq, head, append, replace, move } = update;
    const appended = new Set(append.map(({ seq }) => seq));
    const named = new Map<number, readonly [id: string, needsId: string]>();
    for (const { seq, to } of move) if (!appended.has(seq)) named.set(seq, ["", to === "removed" ? "1" : ""]);
    for (const { seq, id } of replace) named.set(seq, [id, "1"]);
    const values: (string | number)[] = [expected ?? "", version, nextSeq];
    values.push(head === undefined ? "" : `=${head}`, entry.owner ?? "", this.#ttl, entry.life, entered);
    values.push(append[0]?.seq ?? "", named.size);
    for (const [seq, how] of named) values.push(seq, ...how);
    values.push(insert.length);
    for (const row of insert) values.push(row.seq, row.id, row.state, recordOf(row));
    values.push(rewrite.length);
    for (const row of rewrite) values.push(row.seq, row.state, recordOf(row));
    values.push(setState.length + remove.length);
    for (const { seq, state } of setState) values.push(seq, state);
    for (const seq of remove) values.push(seq, "removed");
    return { script: writeScript, keys: this.keysOf(memoryId), values };
  }

  /** One message beyond the limit: there is more. */
  history(memoryId: string, query: NormalHistoryQuery): Statement<HistoryAnswer> {
    const { after, before, order, limit, states, ids } = query;
    const values: (string | number)[] = [after, before, order, limit + 1, states.length, ...states];
    if (ids !== undefined) values.push("ids", ...ids);
    return { script: historyScript, keys: this.keysOf(memoryId), values };
  }

  peek(memoryId: string): Statement<PeekAnswer> {
    return { script: peekScript, keys: this.keysOf(memoryId).slice(0, 1), values: [] };
  }

  /** Removes that life of a memory and no other; `""` stands for what is left where the head is gone. */
  remove(memoryId: string, life: string, only?: "expired"): Statement<"removed" | "present" | "absent"> {
    return { script: removeScript, keys: this.keysOf(memoryId), values: [life, only ?? ""] };
  }

  /** Lists an entry before its memory begins. Answers its place, in microseconds of the server's clock. */
  enter(entry: Entry): Statement<string> {
    const keys = [this.#index("last"), ...this.#listsOf(entry.owner)];
    return { script: enterScript, keys, values: [memberOf(entry)] };
  }

  /** Takes an entry off if it is at least so old; `"1"` if it was. */
  leave(entry: Entry, olderThan: number): Statement<"0" | "1"> {
    return { script: leaveScript, keys: this.#listsOf(entry.owner), values: [memberOf(entry), olderThan] };
  }

  /** In the order in which memories were begun, after that place. */
  page(owner: string | undefined, after: string, limit: number): Statement<PageAnswer> {
    return { script: pageScript, keys: this.#listsOf(owner).slice(-1), values: [after, limit] };
  }

  /** Encoded, so that an id's own braces cannot move its keys to another slot. */
  keysOf(memoryId: string): string[] {
    const key = `${this.#prefix}memory:{${encoded(memoryId)}}:`;
    return ["head", "messages", "ids", "live", "evicted", "superseded"].map((name) => key + name);
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

// No part of a record or an entry but its last can hold U+0000, by the contract's rules for text.

function recordOf({ createdAt, id, meta, payload }: StoredMessage): string {
  return `${createdAt}\0${id}\0${meta === undefined ? "" : `=${meta}`}\0${payload}`;
}

/** `CORRUPT_RECORD` for a text that `recordOf` did not make. */
export function messageOf(memoryId: string, seq: string, record: string): StoredMessage {
  const idAt = record.indexOf("\0") + 1;
  const metaAt = record.indexOf("\0", idAt) + 1;
  const payloadAt = record.indexOf("\0", metaAt) + 1;
  const createdAt = Number(record.slice(0, Math.max(0, idAt - 1)));
  if (idAt < 2 || metaAt <= idAt || payloadAt <= metaAt || !Number.isSafeInteger(createdAt)) {
    const messageIds = metaAt > idAt && idAt > 1 ? [record.slice(idAt, metaAt - 1)] : undefined;
    throw corruptError(memoryId, `what is kept for seq ${seq} is no record of this store`, { messageIds });
  }
  const id = record.slice(idAt, metaAt - 1);
  const message = { id, seq: Number(seq), createdAt, payload: record.slice(payloadAt) };
  return metaAt === payloadAt - 1 ? message : { ...message, meta: record.slice(metaAt + 1, payloadAt - 1) };
}

function memberOf({ memoryId, life, owner }: Entry): string {
  return `${memoryId}\0${life}${owner === undefined ? "" : `\0${owner}`}`;
}

export function entryOf(member: string): Entry {
  const [memoryId = "", life = "", owner] = member.split("\0");
  return { memoryId, life, owner };
}

/** The rows of `disagrees`, by seq. */
export function rowsOf(rows: readonly string[]): Map<number, { id: string; state: MessageState }> {
  const found = new Map<number, { id: string; state: MessageState }>();
  for (let i = 0; i < rows.length; i += 3) {
    found.set(Number(rows[i]), { state: rows[i + 1] as MessageState, id: rows[i + 2] ?? "" });
  }
  return found;
}
