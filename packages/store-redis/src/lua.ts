import { clock, entryIsUsedWithin, now } from "./lists.ts";

// The keys of a memory:
// - `head`, a hash: version, next seq, owner, head, data, times, and the live messages, a record by seq. So a read of what is
//   live is one plain command. It also counts them, so that a memory of which a part is lost never passes for a shorter one.
// - `ids`, a hash: the seq of every message by its id.
// - `messages`, a hash: the records of what has left, by seq.
// - `states`, a sorted set: the runs of seqs of one state, as `7:evicted` by their last seq. Whatever is in no run is live.
// Seqs become text by a format: Lua's own conversion drops their last digits. A script is given only the keys that it needs.
const keys = "local head, ids, messages, states = KEYS[1], KEYS[2], KEYS[3], KEYS[4]";
/** The most messages that the lean script adds or moves: Lua passes fewer than 8,000 values to a function. */
export const mostPlain = 2000;
/** For a memory without a head: whether another part of it is there. All of them expire at one moment. */
const isLost = "redis.call('EXISTS', ids, messages) > 0";
/** The runs of seqs of one state. `removed` is one too, so that in the others every message is there. */
const runs = `
local function text(number) return string.format('%.0f', number) end
local function partsOf(run)
  local first, state = run:match('^(%d+):(%a+)$')
  return tonumber(first) or 0, state or ''
end
local function stateAt(seq)
  local run = redis.call('ZRANGEBYSCORE', states, text(seq), '+inf', 'LIMIT', 0, 1)[1]
  local first, state = partsOf(run or '')
  return run and first <= tonumber(seq) and state or 'live'
end
local function mark(from, to, state)
  local first, last, found, gone = from, to, {}, {}
  local seq = from - 1
  repeat
    found = redis.call('ZRANGEBYSCORE', states, text(seq), '+inf', 'WITHSCORES', 'LIMIT', 0, 2)
    for i = 1, #found, 2 do
      local run, stop = found[i], tonumber(found[i + 1])
      local start, other = partsOf(run)
      if start > to + 1 then
        found = {}
        break
      elseif other == state then
        first, last = math.min(first, start), math.max(last, stop)
        if start > first then gone[#gone + 1] = run end
      elseif start <= to and stop >= from then
        if stop > to then redis.call('ZADD', states, text(stop), text(to + 1) .. ':' .. other) end
        if start < from then redis.call('ZADD', states, text(from - 1), run) else gone[#gone + 1] = run end
      end
      seq = stop + 1
    end
  until #found < 4
  if state ~= 'live' then redis.call('ZADD', states, text(last), text(first) .. ':' .. state) end
  -- Last, since the key must not go and come back: see \`hold\`.
  for _, run in ipairs(gone) do redis.call('ZREM', states, run) end
end`;
/** The id in a record; if that is lost or damaged, the one that leads to it; `''` if both are lost. */
const lookUp = `
${runs}
local bySeq, live
local function recordOf(seq) return redis.call('HGET', head, seq) or redis.call('HGET', messages, seq) end
local function idOf(seq, record)
  local id = (record or ''):match('^%d+%z([^%z]+)%z')
  if id then return id end
  if not bySeq then
    bySeq = {}
    local all = redis.call('HGETALL', ids)
    for at = 1, #all, 2 do bySeq[all[at + 1]] = all[at] end
  end
  return bySeq[seq] or ''
end
-- By seq, also those whose record is lost: where a seq lacks one, best where an id leads to it, since some were passed over.
-- Nothing if they are not as many as the head counts.
local function allLive()
  if live then return live end
  live = {}
  local stored = redis.call('HMGET', head, 'count', 'next')
  local missing, seq = tonumber(stored[1]), tonumber(stored[2])
  if not missing or not seq then return end
  local function add(one) live[one], missing = true, missing - 1 end
  for _, field in ipairs(redis.call('HKEYS', head)) do
    if field:find('^%d') then add(field) end
  end
  local passed, all = {}, missing > 0 and redis.call('ZRANGE', states, 0, -1, 'WITHSCORES') or {}
  for i = #all, 0, -2 do
    local last = tonumber(all[i]) or 0
    for at = seq - 1, math.max(last + 1, seq - 10000), -1 do
      local hole = text(at)
      if missing > 0 and not live[hole] then
        if idOf(hole) ~= '' then add(hole) else passed[#passed + 1] = hole end
      end
    end
    seq = tonumber((all[i - 1] or ''):match('^%d+')) or 1
  end
  for _, hole in ipairs(passed) do
    if missing > 0 then add(hole) end
  end
  return missing == 0 and live
end
local function stateOf(seq)
  local state = stateAt(seq)
  if state == 'evicted' or state == 'superseded' then return state end
  if state == 'live' and (redis.call('HEXISTS', head, seq) == 1 or (allLive() or {})[seq]) then return state end
end`;
// `ARGV` of what writes: the expected version, the version, the first new seq, the ttl, how many new messages are live, where
// three lists begin; then what goes into the head, and the lists. The last has the first seq, the last seq and the state of
// each run of messages that have one which is new.
const write = `
${keys}
local expected, version, first, ttl, added = unpack(ARGV, 1, 5)
local listAt, appendedAt, runsAt = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])`;
const change = `
${write}
local stored = redis.call('HMGET', head, 'version', 'next', 'count', 'expires', 'active')
if stored[1] ~= expected then return stored[1] == version and 'replayed' or 'conflict' end
local nextSeq, count = tonumber(stored[2]), tonumber(stored[3])
if not nextSeq or not count or tonumber(first) < nextSeq then return 'disagrees' end
count = count + added`;
// A script does not roll back, so it checks everything before it writes anything. Its first write is refused if Redis lacks
// replicas; and if it is out of memory, unless that one only removes. After that, Redis refuses only what its user has no
// permission for, so whatever follows the HSET of the version, unless it is another HSET, is first called without effect.
const mayMove = `
redis.call('ZADD', states, 'XX', 0, '')
redis.call('ZREM', states, '')
redis.call('HDEL', head, '')`;
// While its slot moves, a server refuses a script in its middle that comes back to a key which the script itself has emptied. So
// no key is emptied before its last command. Behind whatever its user may have no permission for, as nothing takes it back.
const hold = `
redis.call('HSET', ids, '', '')
redis.call('HSET', messages, '', '')
redis.call('ZADD', states, -1, '')`;
const release = `
redis.call('HDEL', ids, '')
redis.call('HDEL', messages, '')
redis.call('ZREM', states, '')`;
/** All keys of a memory expire at one moment, from which on the server takes the memory for absent. */
const writeHead = `
${clock}
local at
if ttl ~= '' then
  at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ttl)
  redis.call('HSET', head, 'expires', at)
  redis.call('PEXPIREAT', head, at)
elseif stored[4] then
  redis.call('HSET', head, 'count', stored[3])
  for _, key in ipairs(KEYS) do redis.call('PERSIST', key) end
  redis.call('HDEL', head, 'expires')
end
redis.call('HSET', head, 'version', version, 'updated', time[1] .. ' ' .. time[2], 'count', count, unpack(ARGV, 9, listAt - 1))`;
const markRuns = `
for at = runsAt, #ARGV, 3 do mark(tonumber(ARGV[at]), tonumber(ARGV[at + 1]), ARGV[at + 2]) end`;
const keepOthers = `
if at then
  for i = 2, #KEYS do redis.call('PEXPIREAT', KEYS[i], at) end
end`;
/** The end of a script that writes: seq, state, id and record of each new message. */
const append = `
for at = appendedAt, runsAt - 1, 4 do
  local seq, state, id, record = unpack(ARGV, at, at + 3)
  redis.call('HSET', state == 'live' and head or messages, seq, record)
  redis.call('HSET', ids, id, seq)
end
${markRuns}
${keepOthers}`;
const tooLate = `if ${now} - entered > ${entryIsUsedWithin} then return 'late' end`;

/** The scripts of a memory, by what they do. What each answers is in `scripts.ts`. */
export const texts = {
  read: `
${keys}
local stored = redis.call('HMGET', head, 'version', 'next', 'owner', 'head', 'data')
if not stored[1] then return ${isLost} and { 'lost' } or {} end
if stored[1] == ARGV[1] then return { false, unpack(stored) } end
return redis.call('HGETALL', head)`,

  /** The first list: the life, and the entry's position in the index. */
  begin: `
${write}
local life, entered = ARGV[listAt], ARGV[listAt + 1]
local stored = redis.call('HMGET', head, 'version', 'life')
if stored[1] then
  if stored[2] == life then return stored[1] == version and 'again' or 'open' end
  return stored[1] == version and 'replayed' or 'conflict'
end
if ${isLost} then return 'lost' end
${clock}
${tooLate}
local count = added
${runs}
${mayMove}
redis.call('UNLINK', head, states)
${writeHead}
redis.call('HSET', head, 'life', life, 'active', entered)
${append}
return 'done'`,

  look: `
${keys}
${lookUp}
local stored = redis.call('HMGET', head, 'version', 'next', 'count')
if not stored[1] then return {} end
local rows = {}
for _, seq in ipairs(ARGV) do
  if stateAt(seq) == '' then stored[3] = false end
  local state = stateOf(seq)
  if state then rows[#rows + 1] = { seq, state, idOf(seq, recordOf(seq)) } end
end
return { stored[1], stored[2], stored[3], rows }`,

  /** `ARGV`: 1, or -1 for descending; after; before; the limit; how many states; these; `ids`, if only these; ids. */
  history: `
${keys}
${lookUp}
local direction, after, before, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local stored = redis.call('HMGET', head, 'version', 'next', 'owner', 'head', 'data')
if not stored[1] then return ${isLost} and { 'lost' } or {} end
if not allLive() then return { 'lost' } end
local wanted, found, idsAt = {}, {}, 6 + ARGV[5]
for i = 6, idsAt - 1 do wanted[ARGV[i]] = true end
local function take(seq, state)
  if wanted[state] and after < seq and seq < before then found[#found + 1] = { seq, state } end
end
local byId, records, left, most = ARGV[idsAt] == 'ids', redis.call('HLEN', messages), 0, 0
if byId then
  if redis.call('HLEN', ids) < redis.call('HGET', head, 'count') + records then return { 'lost' } end
  for i = idsAt + 1, #ARGV do
    local seq = redis.call('HGET', ids, ARGV[i])
    if seq then take(tonumber(seq) or 0, stateOf(seq)) end
  end
else
  for seq in pairs(live) do take(tonumber(seq), 'live') end
  most = #found + limit
end
local all = redis.call('ZRANGE', states, 0, -1, 'WITHSCORES')
for i = 1, #all, 2 do
  local at = direction > 0 and i or #all - i
  local first, state = all[at]:match('^(%d+):(%a+)$')
  local last = tonumber(all[at + 1])
  if state == 'evicted' or state == 'superseded' then
    left = left + last - first + 1
    first, last = math.max(first, after + 1), math.min(last, before - 1)
    if direction < 0 then first, last = last, first end
    for seq = first, last, direction do
      if #found >= most or not wanted[state] then break end
      if live[text(seq)] then return { 'lost' } end
      take(seq, state)
    end
  end
end
if left < records then return { 'lost' } end
table.sort(found, function(a, b) return direction * a[1] < direction * b[1] end)
local rows = { stored }
for i = 1, math.min(#found, limit) do
  local seq, state = text(found[i][1]), found[i][2]
  local record = redis.call('HGET', state == 'live' and head or messages, seq)
  local isWhole = record and record:find('^%d+%z[^%z]+%z[^%z]*%z')
  rows[i + 1] = { seq, state, record, isWhole and '' or idOf(seq, record) }
end
return rows`,

  peek: `
return redis.call('HMGET', KEYS[1], 'life', 'owner', 'version', 'updated', 'data')`,

  /** `ARGV`: the life; the version that is expected, `""` for any. */
  remove: `
local stored = redis.call('HMGET', KEYS[1], 'life', 'version')
if (stored[1] or '') ~= ARGV[1] then return 'absent' end
if ARGV[2] ~= '' and stored[2] and stored[2] ~= ARGV[2] then return 'conflict' end
redis.call('UNLINK', unpack(KEYS))
return 'removed'`,

  policy: `
local info = redis.pcall('INFO', 'memory')
if type(info) ~= 'string' then return {} end
return { info:match('maxmemory_policy:([%w-]+)'), info:match('maxmemory:(%d+)') }`,
};

/**
 * The scripts that change a memory. A store's `activityMs` is a part of their text, so that no call carries it. They answer
 * `due` and name the memory's entry if its activity must be noted in the lists; the head then says that it was.
 */
export function changing(activityMs: number): Record<"plain" | "change" | "assign", string> {
  const noteActivity = `
local isDue = ${now} - (tonumber(stored[5]) or 0) >= ${activityMs * 1000}
if isDue then redis.call('HSET', head, 'active', string.format('%.0f', ${now})) end`;
  const answer = `
if isDue then return { 'due', unpack(redis.call('HMGET', head, 'life', 'owner')) } end
return 'done'`;
  /**
   * The most frequent change, in fewer steps: up to {@link mostPlain} new messages stay, as many live ones are evicted, and
   * no expiry ends, else it returns `other`. The first list: id and seq of each new message; their records go into the head.
   */
  const plain = `
${change}
if stored[4] and ttl == '' then return 'other' end
local seqs, leaving
if runsAt <= #ARGV then
  seqs, leaving = {}, {}
  for at = runsAt, #ARGV, 3 do
    for seq = tonumber(ARGV[at]), tonumber(ARGV[at + 1]) do seqs[#seqs + 1] = string.format('%.0f', seq) end
  end
  for i, record in ipairs(redis.call('HMGET', head, unpack(seqs))) do
    if not record then return 'other' end
    leaving[2 * i - 1], leaving[2 * i] = seqs[i], record
  end
  count = count - #seqs
  ${mayMove}
end
${writeHead}
${noteActivity}
if listAt < runsAt then redis.call('HSET', ids, unpack(ARGV, listAt, runsAt - 1)) end
if seqs then
  redis.call('HSET', messages, unpack(leaving))
  redis.call('HDEL', head, unpack(seqs))
  ${runs}
  ${markRuns}
end
${keepOthers}
${answer}`;

  /**
   * Any change. The first list: seq, state, id and record of what is replaced, or moves: then the last two are empty. The
   * state of one that is replaced, and must have been evicted before, is behind a `>`.
   */
  const general = `
${change}
${lookUp}
local was, becomes, idWas, records = {}, {}, {}, {}
for at = listAt, appendedAt - 1, 4 do
  local seq, state, id, record = unpack(ARGV, at, at + 3)
  local corrected = state:match('^>(%a+)$')
  state = corrected or state
  was[seq], becomes[seq] = stateOf(seq), state
  if not was[seq] or record ~= '' and was[seq] ~= (corrected and 'evicted' or 'live') then return 'disagrees' end
  if was[seq] == 'live' then count = count - 1 end
  if state == 'live' then count = count + 1 end
  local crosses = (was[seq] == 'live') ~= (state == 'live')
  if crosses or record ~= '' or state == 'removed' then records[seq] = recordOf(seq) end
  if record ~= '' or state == 'removed' then idWas[seq] = idOf(seq, records[seq]) end
  local isOther = record ~= '' and idWas[seq] ~= id and idWas[seq] ~= ''
  if isOther and redis.call('HGET', ids, id) ~= seq then return 'disagrees' end
end
${mayMove}
${writeHead}
${noteActivity}
${hold}
for at = listAt, appendedAt - 1, 4 do
  local seq, _, id, record = unpack(ARGV, at, at + 3)
  local state = becomes[seq]
  local from, to = was[seq] == 'live' and head or messages, state == 'live' and head or messages
  if record == '' and from ~= to then record = records[seq] end
  if state == 'removed' or from ~= to then redis.call('HDEL', from, seq) end
  if state == 'removed' then
    redis.call('HDEL', ids, idWas[seq])
  else
    if record and record ~= '' then redis.call('HSET', to, seq, record) end
    if idWas[seq] == '' then redis.call('HSET', ids, id, seq) end
  end
end
${append}
${release}
${answer}`;

  /** A change of owner: the head gets the entry that was listed before, and when that was. */
  const assign = `
local entered = ARGV[10]
${clock}
${tooLate}
${general}`;
  return { plain, change: general, assign };
}
