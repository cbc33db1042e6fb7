/** In microseconds: an index entry is used within the first, and cleared only after the second. */
export const entryIsUsedWithin: number = 10 * 60 * 1_000_000;
export const entryIsLeftBehindAfter: number = 60 * 60 * 1_000_000;

/** The server's: seconds, and microseconds beside them. To make one number of both takes longer than to ask. */
export const clock = "local time = redis.call('TIME')";
/** In microseconds. */
export const now = "time[1] * 1000000 + time[2]";

// The keys of the index, in a slot of their own, are sorted sets: `all` and `owner:…` by the place of each entry, which is when its
// memory began, or became that owner's; `newest:all` and `newest:owner:…` by its noted activity. Both are in microseconds of
// the server's clock, strictly rising; the key `last` holds the last that was given.

/** The scripts of the index. */
export const listTexts = {
  /**
   * The lists that the first key follows: all by place, all by activity; then those of the owner. `ARGV`: the entry; the one in
   * whose place among all it comes, `""` for none.
   */
  enter: `
${clock}
local score = ${now}
local last = tonumber(redis.call('GET', KEYS[1]) or 0)
if score <= last then score = last + 1 end
local text = string.format('%.0f', score)
redis.call('SET', KEYS[1], text)
redis.call('ZADD', KEYS[2], redis.call('ZSCORE', KEYS[2], ARGV[2]) or text, ARGV[1])
for i = 3, #KEYS do redis.call('ZADD', KEYS[i], text, ARGV[1]) end
return text`,

  /** The same keys. An entry that is no longer listed stays so. */
  note: `
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return end
${clock}
local text = string.format('%.0f', math.max(${now}, (redis.call('GET', KEYS[1]) or 0) + 1))
redis.call('SET', KEYS[1], text)
for i = 3, #KEYS, 2 do redis.call('ZADD', KEYS[i], text, ARGV[1]) end`,

  /** `ARGV`: the entry; how long ago it must have been noted last, since its place may be that of an older one. */
  leave: `
${clock}
local score = redis.call('ZSCORE', KEYS[2], ARGV[1]) or redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or ${now} - tonumber(score) < tonumber(ARGV[2]) then return '0' end
for i = 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
return '1'`,

  touch: `
return redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]) or '0')`,

  /** `ARGV`: the position after which it begins, the other end, the limit, and `REV` for descending. */
  page: `
local found = redis.call('ZRANGE', KEYS[1], '(' .. ARGV[1], ARGV[2], 'BYSCORE', 'WITHSCORES', 'LIMIT', 0, unpack(ARGV, 3))
local rows = {}
for i = 1, #found, 2 do rows[#rows + 1] = { found[i], string.format('%.0f', tonumber(found[i + 1])) } end
return rows`,
};
