// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of source files.
/** Faults to plant in the stores of the repository: a text of a source file, what stands there instead, and who must find it. */

const ownTtl = "each write sets the expiry by its own client's ttlMs";
const contradicts = "an update that contradicts what is stored is refused";
const postgres = { package: "store-postgres", test: "conformance-postgres.test.ts" };
const redis = { package: "store-redis", test: "test/conformance.test.ts" };
const mongo = { package: "store-mongo", test: "test/conformance.test.ts" };
const dynamo = { package: "store-dynamo", test: "test/conformance" };
const sqlite = { package: "store-sqlite", test: "test/conformance.test.ts" };
const keyValue = { package: "conformance", test: "core-stores.test.ts" };

/**
 * @type {readonly {
 *   readonly package: string; readonly file: string; readonly find: string; readonly replace: string;
 *   readonly test: string; readonly caughtBy: string;
 * }[]}
 */
export const mutants = [
  {
    ...postgres,
    file: "store-postgres/src/updates.ts",
    find: "expires_at = ${until}, sweep_at",
    replace: "expires_at = coalesce(${until}, h.expires_at), sweep_at",
    caughtBy: ownTtl,
  },
  {
    ...postgres,
    file: "store-postgres/src/store.ts",
    find: "if (Number(batch?.found) < sweepBatch) return removed;",
    replace: "if (Number(batch?.found) <= sweepBatch) return removed;",
    caughtBy: "one sweep removes all that has expired",
  },
  {
    ...postgres,
    file: "store-postgres/src/sql.ts",
    find: "`(h.expires_at is null or h.expires_at > ${now})`",
    replace: "`(h.expires_at is null or h.expires_at > '-infinity')`",
    caughtBy: "an expired memory is absent in every method at once",
  },
  {
    ...postgres,
    file: "store-postgres/src/updates.ts",
    find: "select from c where c.was_superseded and ${seqsCorrected} @> c.seq",
    replace: "select from c where false and ${seqsCorrected} @> c.seq",
    caughtBy: contradicts,
  },
  {
    ...postgres,
    test: "statements.test.ts",
    file: "store-postgres/src/sql.ts",
    find: "(h.active_at, h.memory_key) < (to_timestamp(${p.text(at)}::float8), ${p.integer(key)})",
    replace: "h.active_at < to_timestamp(${p.text(at)}::float8) and ${p.integer(key)} > 0",
    caughtBy: "the pages of the newest hold each memory once, also where all began in one microsecond",
  },
  {
    ...redis,
    file: "store-redis/src/lua.ts",
    find: "elseif stored[4] then",
    replace: "elseif false then",
    caughtBy: ownTtl,
  },
  {
    ...redis,
    file: "store-redis/src/lua.ts",
    find: "(corrected and 'evicted' or 'live')",
    replace: "(corrected and was[seq] or 'live')",
    caughtBy: contradicts,
  },
  {
    ...mongo,
    file: "store-mongo/src/statements.ts",
    find: '$unset: Object.fromEntries(["expiresAt", ...unset]',
    replace: "$unset: Object.fromEntries([...unset]",
    caughtBy: ownTtl,
  },
  {
    ...mongo,
    file: "store-mongo/src/statements.ts",
    find: 'expiresAt: { $add: ["$$NOW", ttlMs] },',
    replace: "expiresAt: new Date(Date.now() + ttlMs),",
    caughtBy: "a life ends by the database's clock, whatever this process's says",
  },
  {
    ...dynamo,
    file: "store-dynamo/src/plans.ts",
    find: "endsAt: expiryOf(update, timing.ttlMs, updatedAt),",
    replace: "endsAt: expiryOf(update, timing.ttlMs, updatedAt) ?? base.endsAt,",
    caughtBy: ownTtl,
  },
  {
    ...mongo,
    file: "store-mongo/src/statements.ts",
    find: '    { "active.s": s, "active.r": { $gt: r } },\n',
    replace: "",
    caughtBy: "the pages of the newest hold each memory once, also those that began at once",
  },
  {
    ...mongo,
    file: "store-mongo/src/statements.ts",
    find: "owner: 1, head: 1, data: 1, live",
    replace: "owner: 1, head: 1, live",
    caughtBy: "the data stay until an update brings others",
  },
  {
    ...mongo,
    file: "store-mongo/src/changes.ts",
    find: "put(message.seq, message.state, references",
    replace: 'put(message.seq, "live", references',
    caughtBy: "an evicted message is replaced in history, and memory stays as it is",
  },
  {
    ...dynamo,
    file: "store-dynamo/src/plans.ts",
    find: "if (data === undefined) return { data: base.data, dataCount: base.dataCount };",
    replace: "if (data === undefined) return { data: base.data, dataCount: undefined };",
    caughtBy: "data of 8 KB work, more are refused",
  },
  {
    ...dynamo,
    file: "store-dynamo/src/plans.ts",
    find: "nextSeq, owner = base.owner, head = base.head } = update;",
    replace: "nextSeq, owner, head = base.head } = update;",
    caughtBy: "the owner stays until an update names another",
  },
  {
    ...dynamo,
    file: "store-dynamo/src/plans.ts",
    find: "const isNoted = owner === base.owner && now",
    replace: "const isNoted = now",
    caughtBy: "the newest are those that are there, and whose they are",
  },
  {
    ...dynamo,
    file: "store-dynamo/src/plans.ts",
    find: 'superseded.has(seq) ? "superseded" : "evicted"',
    replace: '"evicted"',
    caughtBy: contradicts,
  },
  {
    ...sqlite,
    file: "store-sqlite/src/sql.ts",
    find: "expires_at = ${now} + ?${changed",
    replace: "expires_at = coalesce(${now} + ?, expires_at)${changed",
    caughtBy: ownTtl,
  },
  {
    ...sqlite,
    file: "store-sqlite/src/store.ts",
    find: "if (batch.length < sweepBatch) return removed;",
    replace: "if (batch.length <= sweepBatch) return removed;",
    caughtBy: "one sweep removes all that has expired",
  },
  {
    ...sqlite,
    test: "test/statements.test.ts",
    file: "store-sqlite/src/sql.ts",
    find: '"(h.active_at, h.memory_key) < (?, ?)"',
    replace: '"h.active_at < ? and ? is not null"',
    caughtBy: "the pages of the newest hold each memory once, also where all began in one millisecond",
  },
  {
    ...sqlite,
    file: "store-sqlite/src/sql.ts",
    find: "and h.version = ? and ${present} and h.next_seq <= ?",
    replace: "and h.version is not ? and ${present} and h.next_seq <= ?",
    caughtBy: "an update of an earlier version conflicts",
  },
  {
    ...sqlite,
    file: "store-sqlite/src/sql.ts",
    find: "if (expected === undefined) return { text, values: [memoryId] };",
    replace: "if (expected !== null) return { text, values: [memoryId] };",
    caughtBy: "a delete of a version of an earlier life leaves the later one",
  },
  {
    ...sqlite,
    file: "store-sqlite/src/sql.ts",
    find: "where l.seq is not null or m.superseded or n.value is not m.id",
    replace: "where l.seq is not null or n.value is not m.id",
    caughtBy: contradicts,
  },
  {
    ...keyValue,
    file: "core/src/stores/key-value-store.ts",
    find: "expiresAt: expiryOf(update, ttlMs, updatedAt) };",
    replace: "expiresAt: expiryOf(update, ttlMs, updatedAt) ?? stored?.expiresAt };",
    caughtBy: ownTtl,
  },
  {
    ...keyValue,
    file: "core/src/stores/key-value-store.ts",
    find: "return expiresAt !== undefined && expiresAt <= now();",
    replace: "return false;",
    caughtBy: "an expired memory is absent in every method at once",
  },
];
