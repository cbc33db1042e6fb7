import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { closedError, isTurnkeepError, TurnkeepError } from "../src/errors.ts";
import type { HistoryQuery, ListQuery, MemoryUpdate, MessageState } from "../src/store-contract.ts";
import {
  conflictError,
  corruptError,
  expiryOf,
  foldUpdate,
  isInPlace,
  isPlain,
  type ListedMemory,
  memorySnapshot,
  namedSeqs,
  nameText,
  redactUrl,
  runsOf,
  storedRows,
  storeError,
  throwIfAborted,
  ttl,
  utf8Length,
} from "../src/store-kit.ts";
import { checkMemoryId, checkMessageId, checkOwner, checkUpdate } from "../src/stores/checks.ts";
import {
  decodeCursor,
  encodeCursor,
  listPage,
  normalizeHistoryQuery,
  normalizeListQuery,
} from "../src/stores/queries.ts";
import { message, update } from "./stores-support.ts";

const capabilities = { maxMessageBytes: 100 };

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return isTurnkeepError(error) ? error.code : `not ours: ${error}`;
  }
  return undefined;
}

describe("ids", () => {
  const checks = [
    ["memory id", checkMemoryId, 512],
    ["owner", checkOwner, 512],
    ["message id", checkMessageId, 256],
  ] as const;

  test.each(checks)("%s: what the contract allows", (_, check, max) => {
    const odd = [
      "*",
      ":",
      "{}",
      "$",
      "'\"`",
      "🙂",
      "\u0001\u007f",
      "e\u0301",
      "A",
      "a ",
      " ",
      "\ufeff",
      "__proto__",
      "\u{10000}\u{10ffff}",
    ];
    for (const id of [...odd, "a".repeat(max), "é".repeat(max / 2), "🙂".repeat(max / 4)]) {
      expect(
        codeOf(() => check(id)),
        JSON.stringify(id),
      ).toBeUndefined();
    }
  });

  test.each(checks)("%s: everything else is INVALID_OPTION", (_, check, max) => {
    const bad = [
      "",
      "a".repeat(max + 1),
      `${"é".repeat(max / 2)}a`,
      "\0",
      "a\0b",
      "\ud83d",
      "\ude42",
      "\ude42\ud83d",
      "\udc00\udfff",
      "\ud83d\ue000",
    ];
    for (const id of [...bad, "a\ud83d", undefined, null, 7, {}, []]) {
      expect(
        codeOf(() => check(id as string)),
        JSON.stringify(id),
      ).toBe("INVALID_OPTION");
    }
  });
});

test("ttlMs is a positive whole number of milliseconds", () => {
  for (const ttlMs of [1, 86_400_000]) expect(codeOf(() => ttl("ttlMs", ttlMs))).toBeUndefined();
  for (const ttlMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "5", null]) {
    expect(
      codeOf(() => ttl("ttlMs", ttlMs)),
      String(ttlMs),
    ).toBe("INVALID_OPTION");
  }
});

test("utf8Length agrees with an encoder, lone surrogates included", () => {
  const units = fc.array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(0, 0x7f, 0x80, 0x7ff, 0x800, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff),
    ),
  );
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      const sound = !/\p{Surrogate}/u.test(text) && !text.includes("\0") && codes.length > 0;
      expect(codeOf(() => checkOwner(text))).toBe(
        sound && utf8Length(text) <= 512 ? undefined : "INVALID_OPTION",
      );
    }),
  );
});

describe("checkUpdate", () => {
  const good: MemoryUpdate = {
    expected: "v0",
    version: "v1",
    nextSeq: 10,
    owner: "o",
    head: "{}",
    append: [message(7, { createdAt: 0 }), message(9, { meta: "{}" })],
    replace: [message(3), message(2)],
    move: [
      { seq: 9, to: "evicted" },
      { seq: 3, to: "superseded" },
      { seq: 1, to: "removed" },
      { seq: 4, to: "live" },
    ],
  };

  test("admits what the contract allows", () => {
    expect(codeOf(() => checkUpdate(good, capabilities))).toBeUndefined();
    const empty = {
      ...good,
      expected: null,
      append: [],
      replace: [],
      move: [],
      owner: undefined,
      head: undefined,
    };
    expect(codeOf(() => checkUpdate(empty, capabilities))).toBeUndefined();
    const fullHead = { ...good, head: "é".repeat(8192), data: "é".repeat(4096), ttlMs: null };
    expect(codeOf(() => checkUpdate(fullHead, capabilities))).toBeUndefined();
    const fullMessage = { ...good, append: [message(7, { payload: "é".repeat(40), meta: "x".repeat(20) })] };
    expect(codeOf(() => checkUpdate(fullMessage, capabilities))).toBeUndefined();
  });

  const bad: [string, Record<string, unknown>][] = [
    ["an empty version", { version: "" }],
    ["a version that is no string", { version: 3 }],
    ["an ill-formed version", { version: "\ud800" }],
    ["a version of 257 bytes", { version: "v".repeat(257) }],
    ["an undefined expected version", { expected: undefined }],
    ["an empty expected version", { expected: "" }],
    ["the expected version again", { version: "v0" }],
    ["nextSeq 0", { nextSeq: 0 }],
    ["a fractional nextSeq", { nextSeq: 10.5 }],
    ["an unsafe nextSeq", { nextSeq: 2 ** 53 }],
    ["an empty owner", { owner: "" }],
    ["a null owner", { owner: null }],
    ["a head above 16 KB", { head: `${"é".repeat(8192)}a` }],
    ["a head with U+0000", { head: "\0" }],
    ["a head that is no text", { head: {} }],
    ["data above 8 KB", { data: `${"é".repeat(4096)}a` }],
    ["data with U+0000", { data: "\0" }],
    ["a ttlMs of 0", { ttlMs: 0 }],
    ["a ttlMs that is no number", { ttlMs: "1" }],
    ["append that is no array", { append: undefined }],
    ["replace that is no array", { replace: {} }],
    ["move that is no array", { move: undefined }],
    ["null as a message", { append: [null] }],
    ["nothing as a message", { replace: [undefined] }],
    ["append that descends", { append: [message(9), message(7)] }],
    ["one seq twice in append", { append: [message(7), message(7, { id: "other" })] }],
    ["one seq twice in replace", { replace: [message(3), message(3, { id: "other" })] }],
    ["one seq in append and replace", { replace: [message(7, { id: "other" })] }],
    ["one id twice", { append: [message(7, { id: "x" }), message(8, { id: "x" })] }],
    ["one id in append and replace", { replace: [message(3, { id: "m7" })] }],
    ["one seq in the only two messages", { append: [message(7)], replace: [message(7, { id: "other" })] }],
    ["one id in the only two messages", { append: [message(7)], replace: [message(3, { id: "m7" })] }],
    ["seq 0", { append: [message(0)] }],
    ["a negative seq", { replace: [message(-1)] }],
    ["a fractional seq", { append: [message(7.5)] }],
    ["an appended seq at nextSeq", { append: [message(10)] }],
    ["a replaced seq at nextSeq", { replace: [message(10)] }],
    ["an empty message id", { append: [message(7, { id: "" })] }],
    ["a message id of 257 bytes", { append: [message(7, { id: "i".repeat(257) })] }],
    ["createdAt that is no number", { append: [{ ...message(7), createdAt: "now" }] }],
    ["createdAt before the epoch", { append: [message(7, { createdAt: -1 })] }],
    ["a fractional createdAt", { replace: [message(3, { createdAt: 0.5 })] }],
    ["a payload that is no text", { append: [{ ...message(7), payload: {} }] }],
    ["a payload with U+0000", { append: [message(7, { payload: "a\0" })] }],
    ["a payload with a lone surrogate", { replace: [message(3, { payload: "\ude42" })] }],
    ["meta that is no text", { append: [{ ...message(7), meta: null }] }],
    ["meta with U+0000", { append: [message(7, { meta: "\0" })] }],
    [
      "one seq moved twice",
      {
        move: [
          { seq: 1, to: "evicted" },
          { seq: 1, to: "live" },
        ],
      },
    ],
    ["null as a move", { move: [null] }],
    ["a move to nowhere", { move: [{ seq: 1, to: "deleted" }] }],
    ["a move of seq 0", { move: [{ seq: 0, to: "live" }] }],
    ["a move at nextSeq", { move: [{ seq: 10, to: "live" }] }],
  ];

  test.each(bad)("refuses %s", (_, over) => {
    expect(codeOf(() => checkUpdate({ ...good, ...over } as MemoryUpdate, capabilities))).toBe(
      "INVALID_OPTION",
    );
  });

  test.each<[string, Partial<MemoryUpdate>]>([
    ["An update's version", { version: "\0" }],
    ["The head", { head: "\0" }],
    ['Message "m10"', { append: [message(10)] }],
    ['The payload of message "m7"', { append: [message(7, { payload: "\0" })] }],
    ['The meta of message "m7"', { append: [message(7, { meta: "\0" })] }],
    ["A move", { move: [{ seq: 10, to: "live" }] }],
  ])("names what is at fault: %s", (what, over) => {
    expect(() => checkUpdate({ ...good, ...over }, capabilities)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`${what} `) }),
    );
  });

  test("refuses what is no object", () => {
    for (const value of [undefined, null, "update"]) {
      expect(codeOf(() => checkUpdate(value as never, capabilities))).toBe("INVALID_OPTION");
    }
  });

  test("MESSAGE_TOO_LARGE counts UTF-8 bytes of payload and meta, and names id, size and limit", () => {
    for (const list of ["append", "replace"] as const) {
      const large = message(list === "append" ? 7 : 3, {
        id: "big",
        payload: "é".repeat(40),
        meta: "x".repeat(21),
      });
      try {
        checkUpdate({ ...good, append: [], replace: [], [list]: [large] }, capabilities);
        expect.unreachable();
      } catch (error) {
        expect(isTurnkeepError(error, "MESSAGE_TOO_LARGE")).toBe(true);
        const { message: text, details } = error as TurnkeepError;
        expect(details).toEqual({ messageIds: ["big"], needed: 101, limit: 100 });
        expect(text).toMatch(/"big".*101.*100/);
      }
    }
  });

  test("an error never shows content", () => {
    const secret = "s3cret-content";
    for (const over of [
      { append: [message(7, { payload: `${secret}\0` })] },
      { append: [message(7, { payload: secret.repeat(20) })] },
      { append: [message(7, { meta: `${secret}\0` })] },
      { head: `${secret}\0` },
    ]) {
      try {
        checkUpdate({ ...good, ...over }, capabilities);
        expect.unreachable();
      } catch (error) {
        expect(error).toBeInstanceOf(TurnkeepError);
        expect(String(error)).not.toContain(secret);
      }
    }
  });
});

describe("queries", () => {
  test("history: the defaults", () => {
    expect(normalizeHistoryQuery({})).toEqual({
      after: 0,
      before: Number.MAX_SAFE_INTEGER,
      order: "ascending",
      limit: 100,
      states: ["live", "evicted", "superseded"],
      ids: undefined,
    });
  });

  test("history: what is given is kept, once each", () => {
    expect(
      normalizeHistoryQuery({
        after: 3,
        before: 9,
        order: "descending",
        limit: 1000,
        states: ["superseded", "live", "live"],
        ids: ["b", "a", "b"],
      }),
    ).toEqual({
      after: 3,
      before: 9,
      order: "descending",
      limit: 1000,
      states: ["live", "superseded"],
      ids: ["b", "a"],
    });
    expect(normalizeHistoryQuery({ states: [], ids: [] })).toMatchObject({ states: [], ids: [] });
    const thousand = Array.from({ length: 1000 }, (_, index) => `m${index}`);
    expect(normalizeHistoryQuery({ ids: thousand }).ids).toEqual(thousand);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a negative after", { after: -1 }],
    ["a fractional before", { before: 1.5 }],
    ["a text as after", { after: "1" }],
    ["an unknown order", { order: "up" }],
    ["limit 0", { limit: 0 }],
    ["limit 1001", { limit: 1001 }],
    ["a fractional limit", { limit: 2.5 }],
    ["an unknown state", { states: ["gone"] }],
    ["states that are no array", { states: {} }],
    ["an empty id", { ids: [""] }],
    ["1,001 ids", { ids: Array.from({ length: 1001 }, (_, index) => `m${index}`) }],
    ["ids that are no array", { ids: "m1" }],
  ])("history: refuses %s", (_, query) => {
    expect(codeOf(() => normalizeHistoryQuery(query as HistoryQuery))).toBe("INVALID_OPTION");
  });

  test("list: the defaults, and what is refused", () => {
    expect(normalizeListQuery({})).toEqual({
      owner: undefined,
      order: "stored",
      after: undefined,
      limit: 100,
    });
    const newest = { owner: "o", order: "newest", limit: 1 } as const;
    const { cursor } = listPage([listed("c"), listed("d")], newest);
    expect(normalizeListQuery({ ...newest, cursor })).toEqual({ ...newest, after: "c" });
    expect(codeOf(() => normalizeListQuery({ order: "newest", cursor }, { newest: /^d$/ }))).toBe(
      "INVALID_OPTION",
    );
    expect(normalizeListQuery({ order: "newest", cursor }, { stored: /^d$/ }).after).toBe("c");
    expect(codeOf(() => normalizeListQuery({ cursor }))).toBe("INVALID_OPTION");
    for (const query of [
      undefined,
      { owner: "" },
      { owner: "\0" },
      { cursor: "" },
      { cursor: 3 },
      { limit: 0 },
      { order: "oldest" },
    ]) {
      expect(
        codeOf(() => normalizeListQuery(query as ListQuery)),
        JSON.stringify(query),
      ).toBe("INVALID_OPTION");
    }
  });

  test("a cursor comes back as it went, in characters that any URL carries", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (text) => {
        const cursor = encodeCursor(text);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(decodeCursor(cursor)).toBe(text);
      }),
    );
    expect(decodeCursor(encodeCursor("\ufeffx"))).toBe("\ufeffx");
  });

  test("a cursor whose position is not of the store's form is INVALID_OPTION", () => {
    const after = (cursor: string) => normalizeListQuery({ cursor }, { stored: /^[1-9]\d*$/ }).after;
    expect(after(encodeCursor("s17"))).toBe("17");
    expect(codeOf(() => after(encodeCursor("s017")))).toBe("INVALID_OPTION");
  });

  test("a cursor of another making is INVALID_OPTION", () => {
    for (const cursor of ["", "!", "a", "YQ==", "YR", "_w", "ab c"]) {
      expect(
        codeOf(() => decodeCursor(cursor)),
        cursor,
      ).toBe("INVALID_OPTION");
    }
  });
});

/** A memory in a listing, at that position. */
function listed(position: string, more: Partial<ListedMemory> = {}): ListedMemory {
  return { memoryId: `of ${position}`, owner: undefined, updatedAt: 0, position, ...more };
}

describe("listPage", () => {
  const found = [
    listed("a", { data: null }),
    listed("b", { owner: "ann", data: '"x"', updatedAt: 1 }),
    listed("c"),
  ];

  test("ends at the limit, with a cursor after its last memory if there are more", () => {
    const { memories, cursor } = listPage(found, { limit: 2, order: "stored" });
    expect(memories).toStrictEqual([
      { memoryId: "of a", updatedAt: 0 },
      { memoryId: "of b", updatedAt: 1, owner: "ann", data: '"x"' },
    ]);
    expect(normalizeListQuery({ cursor }).after).toBe("b");
  });

  test("has no cursor where nothing follows", () => {
    expect(listPage(found, { limit: 3, order: "stored" })).not.toHaveProperty("cursor");
    expect(listPage([], { limit: 1, order: "newest" })).toStrictEqual({ memories: [] });
  });
});

describe("nameText", () => {
  const prefix = nameText({ maxBytes: 4, forbidden: /[{}]/, rule: "without braces" });

  test.each(["", "a", "äb", "🙂"])("takes %o", (value) => {
    expect(() => prefix("prefix", value)).not.toThrow();
  });

  test.each([
    [7, "prefix must be a string, not 7"],
    [null, "prefix must be a string, not null"],
    [["private"], "prefix must be a string, not an object"],
    ["a\0", "well-formed Unicode without U+0000, without braces"],
    ["\ud800", "well-formed Unicode"],
    ["{a}", "without braces"],
    ["🙂a", 'must not exceed 4 UTF-8 bytes, but "🙂a" has 5'],
    ["a".repeat(100), `but "${"a".repeat(100)}" has 100`],
    ["a".repeat(101), `but "${"a".repeat(100)}"… (101 characters) has 101`],
  ])("refuses %o", (value, why) => {
    expect(() => prefix("prefix", value)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(why) }),
    );
  });

  test("without rules takes any well-formed text", () => {
    expect(() => nameText()("prefix", "{".repeat(1_000))).not.toThrow();
    expect(() => nameText()("prefix", "\0")).toThrow("without U+0000, and must not be");
  });

  test("tells what to do instead of an empty text", () => {
    const schema = nameText({ ifEmpty: 'leave it out for "public"' });
    expect(() => schema("schema", "")).toThrow('schema must not be empty: leave it out for "public"');
    expect(() => schema("schema", "a")).not.toThrow();
  });
});

describe("isInPlace", () => {
  const change = foldUpdate(
    update("before", {
      version: "after",
      nextSeq: 9,
      append: [message(8)],
      move: [{ seq: 3, to: "evicted" }],
    }),
  );
  const stored = storedRows(8, [{ seq: 3, id: "m3", state: "live" }]);

  test("tells what was sent twice from what may be sent again", () => {
    expect(isInPlace("a", change, "after", storedRows(9, []))).toBe(true);
    expect(isInPlace("a", change, "before", stored)).toBe(false);
  });

  test("throws what stands in the update's way", () => {
    expect(codeOf(() => isInPlace("a", change, "other", stored))).toBe("VERSION_CONFLICT");
    expect(codeOf(() => isInPlace("a", change, null, storedRows(1, [])))).toBe("VERSION_CONFLICT");
    expect(codeOf(() => isInPlace("a", change, "before", storedRows(8, [])))).toBe("INVALID_OPTION");
    expect(codeOf(() => isInPlace("a", change, "before", storedRows(9, [])))).toBe("INVALID_OPTION");
  });
});

describe("runsOf", () => {
  test("holds each number once, in runs as long as they can be", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (seqs) => {
        const runs = runsOf(seqs);
        const held = runs.flatMap(({ from, to }) =>
          Array.from({ length: to - from + 1 }, (_, i) => from + i),
        );
        expect(held).toEqual([...new Set(seqs)].sort((a, b) => a - b));
        for (const [index, { from }] of runs.entries()) {
          if (index > 0) expect(from).toBeGreaterThan((runs[index - 1]?.to ?? 0) + 1);
        }
      }),
    );
  });

  test("joins what is as near as it may be", () => {
    expect(runsOf([9, 1, 4], 3)).toEqual([
      { from: 1, to: 4 },
      { from: 9, to: 9 },
    ]);
  });
});

describe("memorySnapshot", () => {
  test("has owner and head where the memory has them", () => {
    const whole = { version: "v", nextSeq: 2, owner: "", head: "{}", data: "1" };
    const messages = [{ id: "a", seq: 1, createdAt: 0, payload: "{}" }];
    expect(memorySnapshot(whole, messages)).toStrictEqual({ ...whole, messages });
    const bare = { version: "v", nextSeq: 2 };
    expect(memorySnapshot({ ...bare, owner: null, head: undefined }, [])).toStrictEqual({
      ...bare,
      messages: [],
    });
  });

  test("says of a memory that the caller knows that it is unchanged", () => {
    const known = { version: "v", nextSeq: 2 };
    expect(memorySnapshot(known, undefined)).toStrictEqual({ ...known, messages: [], unchanged: true });
  });
});

describe("foldUpdate", () => {
  test("each message ends in one list with its final state, as if the changes had been made one by one", () => {
    const state = fc.constantFrom<MessageState | "removed">("live", "evicted", "superseded", "removed");
    const plans = fc.uniqueArray(
      fc.record({
        seq: fc.integer({ min: 1, max: 30 }),
        change: fc.constantFrom("append", "replace", "none"),
        to: fc.option(state, { nil: undefined }),
      }),
      { selector: (plan) => plan.seq },
    );
    fc.assert(
      fc.property(plans, fc.boolean(), (unsorted, history) => {
        const plan = unsorted.sort((a, b) => a.seq - b.seq);
        const stored = new Map(
          plan.filter((p) => p.change !== "append").map((p) => [p.seq, { payload: "old", state: "live" }]),
        );
        const named = (change: string) => plan.filter((p) => p.change === change).map((p) => message(p.seq));
        const moves = plan.flatMap(({ seq, to }) => (to === undefined ? [] : [{ seq, to }]));
        const change = update("v", {
          nextSeq: 31,
          append: named("append"),
          replace: named("replace"),
          move: moves,
        });

        const expected = new Map(stored);
        for (const { seq, payload } of [...change.append, ...change.replace]) {
          expected.set(seq, { payload, state: "live" });
        }
        for (const { seq, to } of moves) {
          const row = expected.get(seq);
          if (row === undefined) continue;
          if (to === "removed" || (!history && to !== "live")) expected.delete(seq);
          else expected.set(seq, { ...row, state: to });
        }

        const folded = foldUpdate(change, { history });
        const actual = new Map(stored);
        const seen: number[] = [];
        for (const row of folded.insert) {
          expect(stored.has(row.seq)).toBe(false);
          actual.set(row.seq, { payload: row.payload, state: row.state });
          seen.push(row.seq);
        }
        for (const { seq, state, payload } of folded.replaced) {
          expect(stored.has(seq)).toBe(true);
          if (state === "removed") actual.delete(seq);
          else actual.set(seq, { payload, state });
          seen.push(seq);
        }
        for (const { seq, state } of folded.moved) {
          if (state === "removed") expect(actual.delete(seq)).toBe(true);
          else actual.set(seq, { payload: actual.get(seq)?.payload ?? "none", state });
          seen.push(seq);
        }
        expect(actual).toEqual(expected);
        expect(new Set(seen).size).toBe(seen.length);
        const inserted = folded.insert.map((row) => row.seq);
        expect(inserted).toEqual(inserted.toSorted((a, b) => a - b));
        expect(folded.replaced.map(({ seq }) => seq)).toEqual(change.replace.map(({ seq }) => seq));
        expect(folded.first).toBe(change.append[0]?.seq ?? change.nextSeq);
      }),
    );
  });

  test("what it names of a memory, and whether it is plain, are as the update says", () => {
    const target = fc.oneof(
      { weight: 5, arbitrary: fc.constant<MessageState | "removed">("evicted") },
      fc.constantFrom<MessageState | "removed">("live", "superseded", "removed"),
    );
    const plans = fc.uniqueArray(
      fc.record({
        seq: fc.integer({ min: 1, max: 30 }),
        change: fc.oneof({ weight: 5, arbitrary: fc.constantFrom("append", "none") }, fc.constant("replace")),
        to: fc.option(target, { nil: undefined }),
      }),
      { selector: (plan) => plan.seq, maxLength: 6 },
    );
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(plans, (unsorted) => {
        const plan = unsorted.sort((a, b) => a.seq - b.seq);
        const made = (change: string) => plan.filter((p) => p.change === change).map((p) => message(p.seq));
        const move = plan.flatMap(({ seq, to }) => (to === undefined ? [] : [{ seq, to }]));
        const folded = foldUpdate(
          update("v", { nextSeq: 31, append: made("append"), replace: made("replace"), move }),
        );

        const stored = plan.filter(({ change }) => change !== "append");
        const named = stored.filter(({ change, to }) => change === "replace" || to !== undefined);
        expect(namedSeqs(folded).sort((a, b) => a - b)).toEqual(named.map(({ seq }) => seq));
        const plain = named.every(({ change, to }) => change !== "replace" && to === "evicted");
        expect(isPlain(folded)).toBe(plain);
        seen.add(plain);
      }),
    );
    expect(seen).toEqual(new Set([true, false]));
  });
});

describe("errors", () => {
  test("storeError keeps ours, reports an abort as one, and hides the driver's text but not its code", () => {
    const ours = closedError("x");
    expect(storeError("x", ours)).toBe(ours);
    const driver = Object.assign(new Error("duplicate key (payload)=(s3cret)"), { code: "23505" });
    const wrapped = storeError("store-x", driver);
    expect(wrapped).toMatchObject({ code: "STORE_UNAVAILABLE", cause: driver });
    expect(wrapped.message).toContain("23505");
    expect(wrapped.message).not.toContain("s3cret");
    expect(storeError("x", driver, AbortSignal.abort())).toMatchObject({ code: "ABORTED", cause: driver });
    for (const cause of [undefined, null, new Error("cut"), { code: { host: "s3cret" } }]) {
      expect(storeError("x", cause).message).toContain("a fault; see the cause");
    }
    expect(storeError("x", { code: 11000 }).message).toContain("a fault (11000)");
    const socket = Object.assign(new Error("connect s3cret"), { code: "ECONNREFUSED" });
    const network = new Error("connect s3cret", { cause: socket });
    const selection = new Error("connect s3cret", { cause: network });
    expect(storeError("x", selection).message).toContain("a fault (ECONNREFUSED); see the cause");
    const refused = Object.assign(new Error("s3cret"), { name: "UnrecognizedClientException" });
    expect(storeError("x", refused).message).toContain(
      "a fault (UnrecognizedClientException); see the cause",
    );
    refused.cause = refused;
    expect(storeError("x", refused).message).toContain("a fault (UnrecognizedClientException)");
  });

  test("throwIfAborted gives the reason as cause", () => {
    expect(codeOf(() => throwIfAborted(undefined))).toBeUndefined();
    expect(codeOf(() => throwIfAborted(new AbortController().signal))).toBeUndefined();
    const reason = new Error("enough");
    expect(() => throwIfAborted(AbortSignal.abort(reason))).toThrow(
      expect.objectContaining({ code: "ABORTED", cause: reason }),
    );
  });

  test("conflicts and corrupt records name the memory", () => {
    expect(conflictError("a", null)).toMatchObject({ code: "VERSION_CONFLICT", details: { memoryId: "a" } });
    expect(conflictError("a", null).message).toContain("did not exist");
    expect(conflictError("a", "v1").message).toContain('was at version "v1"');
    const error = corruptError("a", "half of it is missing", { messageIds: ["m1"] });
    expect(error).toMatchObject({ code: "CORRUPT_RECORD", details: { memoryId: "a", messageIds: ["m1"] } });
    expect(error.message).toMatch(/"a".*"m1".*half of it/);
  });

  test.each([
    ["postgres://app:s3cret@db:5432/chat", "postgres://app:***@db:5432/chat"],
    ["postgres://app@db/chat", "postgres://app@db/chat"],
    ["redis://:s3cret@cache:6379/0", "redis://:***@cache:6379/0"],
    ["mongodb://u:s3cret@h1:1,h2:2/x?replicaSet=rs", "mongodb://u:***@h1:1,h2:2/x?replicaSet=rs"],
    ["postgres://u:s3@cret/a?b#c@db/x", "postgres://u:***@db/x"],
    ["postgres://db/x?sslmode=require&password=s3cret", "postgres://db/x?sslmode=require&password=***"],
    ["host=db password='s3 cr\\'et' user=u", "host=db password=*** user=u"],
    ["host=db password=s3cret user=u", "host=db password=*** user=u"],
    ["password=s3cret host=db", "password=*** host=db"],
    ["host=db my.ssl-password=s3cret", "host=db my.ssl-password=***"],
    ["https://x/y?authToken=s3cret&a=b", "https://x/y?authToken=***&a=b"],
    ["not a url", "not a url"],
    ["postgres://ada@example.org:s3cret@host/chat", "postgres://ada@example.org:***@host/chat"],
    ["postgres://group/ada:s3cret@host/chat", "postgres://group/ada:***@host/chat"],
  ])("redactUrl(%s)", (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });
});

test.each([
  ["an update that is its text", '{"payload":"private words"}'],
  ["a message that is its text", update(null, { append: ["private words" as never] })],
])("checkUpdate tells nothing of %s", (_, given) => {
  expect(() => checkUpdate(given as MemoryUpdate, capabilities)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.not.stringContaining("private") }),
  );
});

test("an update's own time to live comes before the store's", () => {
  expect(expiryOf({ ttlMs: undefined }, undefined, 5)).toBeUndefined();
  expect(expiryOf({ ttlMs: undefined }, 10, 5)).toBe(15);
  expect(expiryOf({ ttlMs: 20 }, 10, 5)).toBe(25);
  expect(expiryOf({ ttlMs: null }, 10, 5)).toBeUndefined();
});
