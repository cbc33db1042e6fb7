/** In microseconds: an index entry is used within the first, and cleared only after the second. */
const entryIsUsedWithin = 10 * 60 * 1_000_000;
export const entryIsLeftBehindAfter: number = 60 * 60 * 1_000_000;

/** The keys of a memory may stay for so small a part of `ttlMs` after it has expired. */
const slackOfExpiry = 8;

// The keys of a memory: its head, its live seqs, the records by seq, the seqs by message id, and the evicted and
// superseded seqs. A change of state moves a seq, never a record. Seqs stay texts: as a Lua number, a seq loses its
// last digits when it becomes text, and the conversion is slow. A script is given only the keys that it needs.
// The head counts the live seqs, so that a memory whose keys are lost in part never passes for a shorter or an empty one.
const keys = "local head, live, messages, ids = KEYS[1], KEYS[2], KEYS[3], KEYS[4]";
/** The most values that a script passes to a function: Lua takes fewer than 8,000. */
const portion = 4000;
export const mostPlainMoves: number = portion / 2;
// The time in milliseconds, as text. An unreadable one counts as not reached, so that readers see what is wrong.
const clock = `
local time = redis.call('TIME')
local now = time[1] .. string.sub(1000000 + time[2], 2, 4)
local function past(expires)
  local at = tonumber(expires)
  return at and at <= tonumber(now)
end`;
/** Adds those of `messages` with these seqs after what the result holds already. */
const addRecords = `
local function addRecords(answer, seqs)
  for from = 1, #seqs, ${portion} do
    local to = math.min(from + ${portion - 1}, #seqs)
    answer[#answer + 1] = redis.call('HMGET', messages, unpack(seqs, from, to))
  end
  return answer
end`;
/** The beginning of a script that may look at any message. */
const memory = `
${keys}
local states = { live = live, evicted = KEYS[5], superseded = KEYS[6] }
${clock}
local function stateOf(seq)
  for state, key in pairs(states) do
    if redis.call('ZSCORE', key, seq) then return state end
  end
end`;
/** The id in a message's record; if that is lost or damaged, the one that leads to it; `""` if both are lost. */
const idOf = `
local bySeq
local function idOf(seq)
  local id = (redis.call('HGET', messages, seq) or ''):match('^%d+%z([^%z]+)%z')
  if id then return id end
  if not bySeq then
    bySeq = {}
    local all = redis.call('HGETALL', ids)
    for at = 1, #all, 2 do bySeq[all[at + 1]] = all[at] end
  end
  return bySeq[seq] or ''
end`;
/** For a memory without a head: whether one of its other keys is there. */
const isLost = "redis.call('EXISTS', unpack(KEYS, 2)) > 0";
// `ARGV` of a change: the expected version, then where the lists begin, then: fields of the head, the first of which is
// the version; moves; replacements; new messages.
const change = `
local expected, first, ttl = ARGV[1], ARGV[2], ARGV[3]
local movedAt, replacedAt, appendedAt = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local stored = redis.call('HMGET', head, 'version', 'next', 'expires', 'live')
if not stored[1] or past(stored[3]) then return 'conflict' end
if stored[1] == ARGV[8] then return 'replayed' end
if stored[1] ~= expected then return 'conflict' end
local nextSeq, count = tonumber(stored[2]), tonumber(stored[4])
if not nextSeq or not count or tonumber(first) < nextSeq then return 'disagrees' end`;
// A script does not roll back, so it checks everything before it writes anything. Its first write is an HSET, which
// Redis refuses if it is out of memory or lacks replicas. After a script's first write, Redis refuses only what its
// user has no permission for, so each command is first called without effect.
// A memory is absent once its head's `expires` is past. Its keys go by themselves at `gone`, somewhat later, so that
// most writes need not renew six of them.
const changeHead = `
redis.call('HSET', head, 'updated', now)
redis.call('HDEL', head, '')
redis.call('ZADD', live, 'XX', 0, '')
redis.call('ZREM', live, '')
local gone, renewed
if ttl ~= '' then
  gone = redis.call('HGET', head, 'gone')
  renewed = (tonumber(gone) or 0) < now + ttl
  if renewed then
    gone = string.format('%.0f', now + ttl + math.ceil(ttl / ${slackOfExpiry}))
    redis.call('PEXPIREAT', head, gone)
    redis.call('HSET', head, 'gone', gone)
  end
  redis.call('HSET', head, 'expires', string.format('%.0f', now + ttl))
elseif stored[3] then
  for _, key in ipairs(KEYS) do redis.call('PERSIST', key) end
  redis.call('HDEL', head, 'expires', 'gone')
end
redis.call('HSET', head, 'live', count, unpack(ARGV, 7, movedAt - 1))`;
/**
 * The end of a change: keys that it has created expire with the others. All is written, so nothing may fail here; the
 * right to set an expiry is met above whenever all are renewed.
 */
const keepKeys = `
if gone then
  for at = 2, #KEYS do
    if renewed or redis.pcall('PTTL', KEYS[at]) == -1 then redis.pcall('PEXPIREAT', KEYS[at], gone) end
  end
end`;
const countAppended = `
for at = appendedAt, #ARGV, 4 do
  if ARGV[at + 1] == 'live' then count = count + 1 end
end`;
/** Seq, state, id and record of each. */
const append = `
for at = appendedAt, #ARGV, 4 do
  local seq = ARGV[at]
  redis.call('HSET', messages, seq, ARGV[at + 3])
  redis.call('HSET', ids, ARGV[at + 2], seq)
  redis.call('ZADD', states[ARGV[at + 1]], seq, seq)
end`;

/** The scripts, by what they do. What each answers is in `scripts.ts`. */
export const texts = {
  read: `
${keys}
local stored = redis.call('HMGET', head, 'version', 'next', 'owner', 'head', 'live', 'expires')
if not stored[1] then return ${isLost} and { 'lost' } or {} end
if stored[6] then
  ${clock}
  if past(stored[6]) then return {} end
end
if stored[1] == ARGV[1] then return { stored } end
${addRecords}
local seqs = redis.call('ZRANGE', live, 0, -1)
return addRecords({ stored, seqs }, seqs)`,

  /** Indices in `ARGV` as for a change. */
  begin: `
${memory}
local ttl, life, entered, appendedAt = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local movedAt = appendedAt
local stored = redis.call('HMGET', head, 'version', 'life', 'expires', 'owner')
if stored[1] and not past(stored[3]) then
  return { stored[1] == ARGV[8] and 'replayed' or 'conflict', stored[2] }
end
if not stored[1] and ${isLost} then return { 'lost' } end
local count = 0
${countAppended}
if now * 1000 - entered > ${entryIsUsedWithin} then return { 'late' } end
redis.call('HSET', head, 'life', life)
redis.call('HDEL', head, 'owner', 'head')
redis.call('UNLINK', unpack(KEYS, 2))
${changeHead}
${append}
${keepKeys}
if stored[2] then return { 'done', stored[2], stored[4] } end
return { 'done' }`,

  /**
   * The most frequent change, in fewer steps: new messages stay, and up to {@link mostPlainMoves} live ones are
   * evicted, and no expiry ends, else it returns `other`. A move is its seq twice (score and member), a new message its
   * seq, id and record.
   */
  plain: `
${keys}
${clock}
${change}
if stored[3] and ttl == '' then return 'other' end
count = count + (#ARGV + 1 - appendedAt) / 3 - (replacedAt - movedAt) / 2
if movedAt < replacedAt then
  for _, score in ipairs(redis.call('ZMSCORE', live, unpack(ARGV, movedAt, replacedAt - 1))) do
    if not score then return 'other' end
  end
end
${changeHead}
if movedAt < replacedAt then
  redis.call('ZREM', live, unpack(ARGV, movedAt, replacedAt - 1))
  redis.call('ZADD', KEYS[5], unpack(ARGV, movedAt, replacedAt - 1))
end
for at = appendedAt, #ARGV, 3 do
  local seq = ARGV[at]
  redis.call('HSET', messages, seq, ARGV[at + 2])
  redis.call('HSET', ids, ARGV[at + 1], seq)
  redis.call('ZADD', live, seq, seq)
end
${keepKeys}
return 'done'`,

  /** Any change. A move is seq and state, a replacement and a new message seq, state, id and record. */
  change: `
${memory}
${idOf}
${change}
local was, idWas = {}, {}
local function check(seq, state)
  was[seq] = stateOf(seq)
  if was[seq] == 'live' then count = count - 1 end
  if state == 'live' then count = count + 1 end
  return was[seq]
end
for at = movedAt, replacedAt - 1, 2 do
  if not check(ARGV[at], ARGV[at + 1]) then return 'disagrees' end
  if ARGV[at + 1] == 'removed' then idWas[ARGV[at]] = idOf(ARGV[at]) end
end
for at = replacedAt, appendedAt - 1, 4 do
  local seq, id = ARGV[at], ARGV[at + 2]
  idWas[seq] = idOf(seq)
  if check(seq, ARGV[at + 1]) ~= 'live' then return 'disagrees' end
  if idWas[seq] ~= id and idWas[seq] ~= '' and redis.call('HGET', ids, id) ~= seq then return 'disagrees' end
end
${countAppended}
${changeHead}
local function move(seq, state)
  if was[seq] == state then return end
  redis.call('ZREM', states[was[seq]], seq)
  if state ~= 'removed' then return redis.call('ZADD', states[state], seq, seq) end
  redis.call('HDEL', ids, idWas[seq])
  redis.call('HDEL', messages, seq)
end
for at = movedAt, replacedAt - 1, 2 do move(ARGV[at], ARGV[at + 1]) end
for at = replacedAt, appendedAt - 1, 4 do
  redis.call('HSET', messages, ARGV[at], ARGV[at + 3])
  if idWas[ARGV[at]] == '' then redis.call('HSET', ids, ARGV[at + 2], ARGV[at]) end
  move(ARGV[at], ARGV[at + 1])
end
${append}
${keepKeys}
return 'done'`,

  look: `
${memory}
${idOf}
local stored = redis.call('HMGET', head, 'version', 'next', 'expires', 'live')
if not stored[1] or past(stored[3]) then return {} end
local rows = {}
for _, seq in ipairs(ARGV) do
  local state = stateOf(seq)
  if state then rows[#rows + 1] = { seq, state, idOf(seq) } end
end
return { stored[1], stored[2], stored[4], rows }`,

  history: `
${memory}
${addRecords}
local range, from, to, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local stored = redis.call('HMGET', head, 'version', 'expires', 'live')
if not stored[1] then return ${isLost} and { 'lost' } or {} end
if past(stored[2]) then return {} end
local records, listed = redis.call('HLEN', messages), redis.call('ZCARD', live)
if listed ~= tonumber(stored[3]) then return { 'lost' } end
if listed + redis.call('ZCARD', KEYS[5]) + redis.call('ZCARD', KEYS[6]) < records then return { 'lost' } end
local wanted, seqs, at = {}, {}, {}
for i = 6, 5 + ARGV[5] do wanted[ARGV[i]] = true end
local direction = range == 'ZRANGEBYSCORE' and 1 or -1
local function place(seq) return direction * (tonumber(seq) or 0) end
local function take(seq, state)
  seqs[#seqs + 1] = seq
  at[seq] = state
end
local firstId = 6 + ARGV[5]
if ARGV[firstId] == 'ids' then
  if redis.call('HLEN', ids) < records then return { 'lost' } end
  for i = firstId + 1, #ARGV do
    local seq = redis.call('HGET', ids, ARGV[i])
    local state = seq and stateOf(seq)
    if wanted[state] and place(from) < place(seq) and place(seq) < place(to) then take(seq, state) end
  end
else
  for state in pairs(wanted) do
    local found = redis.call(range, states[state], '(' .. from, '(' .. to, 'LIMIT', 0, limit)
    for _, seq in ipairs(found) do take(seq, state) end
  end
end
table.sort(seqs, function(a, b) return place(a) < place(b) end)
for i = #seqs, limit + 1, -1 do seqs[i] = nil end
local found = {}
for i, seq in ipairs(seqs) do found[i] = at[seq] end
return addRecords({ found, seqs }, seqs)`,

  peek: `
${clock}
local stored = redis.call('HMGET', KEYS[1], 'life', 'owner', 'updated', 'expires')
if not stored[1] then return {} end
return { stored[1], stored[2], stored[3], past(stored[4]) and 'no' or 'yes' }`,

  /** `ARGV`: the life; `expired` if it must be that; the version that is expected, `""` for any. */
  remove: `
${clock}
local stored = redis.call('HMGET', KEYS[1], 'life', 'expires', 'version')
if (stored[1] or '') ~= ARGV[1] then return 'absent' end
if not past(stored[2]) then
  if ARGV[2] == 'expired' then return 'present' end
  if ARGV[3] ~= '' and stored[3] and stored[3] ~= ARGV[3] then return 'conflict' end
end
redis.call('UNLINK', unpack(KEYS))
return 'removed'`,

  enter: `
local time = redis.call('TIME')
local score = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('GET', KEYS[1]) or 0)
if score <= last then score = last + 1 end
local text = string.format('%.0f', score)
redis.call('SET', KEYS[1], text)
for i = 2, #KEYS do redis.call('ZADD', KEYS[i], text, ARGV[1]) end
return text`,

  leave: `
local time = redis.call('TIME')
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or time[1] * 1000000 + time[2] - tonumber(score) < tonumber(ARGV[2]) then return '0' end
for i = 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
return '1'`,

  touch: `
return redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]) or '0')`,

  policy: `
local info = redis.pcall('INFO', 'memory')
if type(info) ~= 'string' then return {} end
return { info:match('maxmemory_policy:([%w-]+)'), info:match('maxmemory:(%d+)') }`,

  page: `
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local rows = {}
for i = 1, #found, 2 do rows[#rows + 1] = { found[i], string.format('%.0f', tonumber(found[i + 1])) } end
return rows`,
};
