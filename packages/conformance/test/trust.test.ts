import { keyValueStore } from "@turnkeep/core";
import { expect, test } from "vitest";
import {
  type ConformanceCase,
  ConformanceError,
  type ConformanceHarness,
  type ConformanceReport,
  type CountedClient,
  cases,
  formatBadge,
  formatReport,
  runConformance,
} from "../src/index.ts";
import { sentences } from "../src/support/sentences.ts";
import { mapHooks } from "./map-hooks.ts";
import { referenceHarness } from "./reference-store.ts";

function caseOf(name: string, run: ConformanceCase["run"]): ConformanceCase {
  return { name, group: "basic", sentence: "It is so.", run };
}

const passes = caseOf("passes", async () => {});
const failing = (name: string) => caseOf(name, () => Promise.reject(new ConformanceError("saw nothing")));

/** Every case of the kit, passed at once. */
const allPassed = cases.map((member) => ({ ...member, run: async () => {} }));

function wholeReport(harness: ConformanceHarness): Promise<ConformanceReport> {
  return runConformance(harness, { cases: allPassed });
}

/** A database that forgets everything with its process, and says otherwise. */
function boastful(durable = true): ConformanceHarness {
  const { list: _, ...hooks } = mapHooks(new Map());
  return { create: ({ ttlMs }) => keyValueStore<string>({ ttlMs, durable, shared: true, ...hooks }) };
}

test("what the harness does not offer is told first, in the verdict and on the badge", async () => {
  const report = await wholeReport(boastful());
  expect(report).toMatchObject({ ok: true, whole: true, offered: [] });
  expect(report.lacking).toEqual(expect.arrayContaining(["fault", "given", "rawRead", "rawWrite", "reopen"]));
  const lines = formatReport(report).split("\n");
  expect(lines[1]).toMatch(/^The harness lacks .*fault, given, .+: what only they can show was not tried\.$/);
  expect(lines.at(-1)).toMatch(/^Conforms as far as a harness without .*fault, given, .+ shows: \d+ passed/);
  expect(formatBadge(report)).toMatch(
    /<title>turnkeep store: conforms, tried without \w+, \w+ and \d+ more</,
  );
  expect(formatBadge(report)).toContain("#9a6700");

  // The cases do nothing here, so that a member may do nothing either.
  const stubs = Object.fromEntries(report.lacking.map((name) => [name, () => {}]));
  const full = await wholeReport({ ...boastful(), ...stubs });
  expect(full.lacking).toEqual([]);
  expect(formatReport(full).split("\n").at(-1)).toMatch(/^Conforms: \d+ passed/);
  expect(formatBadge(full)).toContain("<title>turnkeep store: conforms</title>");
  const { reopen: _, ...without } = stubs;
  expect((await wholeReport({ ...boastful(), ...without })).lacking).toEqual(["reopen"]);
  expect((await wholeReport({ ...boastful(false), ...without })).lacking).toEqual([]);
});

test("a part of the kit never conforms: a group, own cases, a path, an early end", async () => {
  const harness = referenceHarness();
  const parts = [
    { groups: ["order"] as const },
    { cases: [passes] },
    { cases: allPassed, seed: 1, path: "0" },
    { cases: allPassed.slice(1) },
    { cases: [failing("one"), passes], bail: 1 },
    { cases: [caseOf("takes long", () => new Promise(() => {}))], totalMs: 30 },
  ];
  for (const options of parts) {
    const report = await runConformance(harness, options);
    expect(report.whole).toBe(false);
    expect(formatReport(report)).not.toMatch(/^Conforms/m);
    expect(formatBadge(report)).not.toContain("conforms");
    expect(formatReport(report)).toContain(
      `A part of the kit: ${report.results.length} of ${cases.length} cases.`,
    );
  }
});

test("bail ends a run after so many failures, and says so", async () => {
  const report = await runConformance(referenceHarness(), {
    cases: [failing("one"), passes, failing("two"), failing("three")],
    bail: 2,
  });
  expect(report.results.map(({ name }) => name)).toEqual(["one", "passes", "two"]);
  expect(formatReport(report)).toContain("The run was stopped: 2 failed, as many as bail allows.");
  const last = await runConformance(referenceHarness(), { cases: [passes, failing("one")], bail: 1 });
  expect(last.stopped).toBeUndefined();
});

test("a total time ends the run within a case, which is not blamed for it", async () => {
  const report = await runConformance(referenceHarness(), {
    cases: [passes, caseOf("takes long", () => new Promise(() => {})), passes],
    totalMs: 100,
  });
  expect(report).toMatchObject({ ok: false, counts: { passed: 1, failed: 0 } });
  expect(report.stopped).toBe('its 100 ms were over before the case "takes long" had ended');
});

test("what is thrown in the background fails the case that ran, without any I/O too", async () => {
  const report = await runConformance(boastful(), {
    cases: [
      caseOf("rejects", async () => void Promise.reject(new Error("left alone"))),
      passes,
      caseOf(
        "throws",
        async () =>
          void setImmediate(() => {
            throw new Error("in a callback");
          }),
      ),
      caseOf(
        "throws and waits",
        () =>
          new Promise(() => {
            queueMicrotask(() => {
              throw new Error("and the call never ends");
            });
          }),
      ),
      passes,
    ],
  });
  expect(report.results.map(({ status }) => status)).toEqual([
    "failed",
    "passed",
    "failed",
    "failed",
    "passed",
  ]);
  const text = formatReport(report);
  const seen = "in the background, while the case ran: expected nothing, saw";
  expect(text).toContain(`${seen} a rejection that nobody handles: Error (left alone)`);
  expect(text).toContain(`${seen} an exception that nobody catches: Error (in a callback)`);
  expect(text).toContain("expected an end within 1000 ms after that, saw none");
});

test("a failed sequence names the sentence that it broke", async () => {
  const sweepsAll = referenceHarness({
    wrap: (base, { memories }) => ({
      async sweep(options) {
        memories.clear();
        return base.sweep(options);
      },
    }),
  });
  const sequences = cases.filter(({ name }) => name.startsWith("random sequences"));
  const { results } = await runConformance(sweepsAll, { cases: sequences, seed: 1 });
  expect(results[0]).toMatchObject({ status: "failed", sentence: sentences.sweep });
});

test("the listeners of the process are as they were before", async () => {
  const events = ["unhandledRejection", "uncaughtException"] as const;
  const listeners = () => events.map((event) => process.rawListeners(event as "uncaughtException"));
  const before = listeners();
  await Promise.all([1, 2].map(() => runConformance(referenceHarness(), { groups: ["order"] })));
  expect(listeners()).toEqual(before);
});

test("a destroy that throws, or throws in the background, loses no report", async () => {
  const destroys: (() => void | Promise<void>)[] = [
    () => Promise.reject(new Error("the container stays")),
    () => {
      void Promise.reject(new Error("the container stays"));
    },
  ];
  for (const destroy of destroys) {
    const report = await runConformance({ ...referenceHarness(), destroy }, { groups: ["order"] });
    expect(report.ok).toBe(false);
    expect(report.counts.failed).toBe(0);
    expect(formatReport(report)).toMatch(/The harness failed after the last case: .*the container stays/);
  }
});

test("where a case has kept what the others need, the next that hangs says so, and those after it run", async () => {
  // Each client has one connection, as a pool may have; what takes it for ever is the store's fault.
  const { create, ...harness } = referenceHarness();
  const queues = new WeakMap<object, { taken: boolean }>();
  const pooled: ConformanceHarness = {
    ...harness,
    async create(options) {
      const store = await create(options);
      const pool = { taken: false };
      const own = {
        ...store,
        getMessages: (id: string) => (pool.taken ? new Promise<never>(() => {}) : store.getMessages(id)),
      };
      queues.set(own, pool);
      return own;
    },
  };
  const report = await runConformance(pooled, {
    cases: [
      caseOf("keeps the connection", async ({ store }) => {
        const pool = queues.get(store);
        if (pool !== undefined) pool.taken = true;
        throw new ConformanceError("saw nothing");
      }),
      caseOf("hangs", async ({ store }) => void (await store.getMessages("a"))),
      caseOf("reads", async ({ store }) => void (await store.getMessages("a"))),
    ],
    timeoutMs: 1_000,
    seed: 1,
  });
  expect(report.results.map(({ status }) => status)).toEqual(["failed", "failed", "passed"]);
  const text = formatReport(report);
  expect(text).toContain("a new client does, so the next cases have new ones");
  expect(text).toContain('(the last that failed: "keeps the connection")');
  expect(text).toContain(
    'to see whether it hangs alone: runConformance(harness, {"names":["hangs"],"seed":1})',
  );
});

/** The cases that look for what is gone where the harness says what the database holds. */
const erasures = [
  "a delete leaves nothing of the memory",
  "a delete leaves nothing of a long memory",
  "a delete that races an append leaves nothing behind",
  "what is removed is gone from memory and history",
  "an expired memory is absent in every method at once",
  "sweep removes what has expired and nothing else",
  "one sweep removes all that has expired",
  "whatever record is gone, no other memory is harmed",
  "a live message whose record is gone stands in its place",
  "a message whose record is gone leaves memory like any other",
];

test.each<[string, (texts: readonly string[]) => readonly string[]]>([
  ["nothing", () => []],
  ["texts that nobody can read", (texts) => texts.map((text) => Buffer.from(text).toString("base64"))],
])("a rawRead that answers %s passes no case that looks for what is gone", async (_, shown) => {
  for (const history of [true, false]) {
    const { rawRead = () => [], ...harness } = referenceHarness({ capabilities: { history } });
    const names = history ? erasures : [...erasures, "what leaves a store without history is gone"];
    const { results } = await runConformance(
      { ...harness, rawRead: async (memoryId) => shown(await rawRead(memoryId)) },
      { names },
    );
    expect(results).toHaveLength(names.length);
    for (const result of results) {
      expect(result).toMatchObject({
        status: "failed",
        message: expect.stringContaining("rawRead of the harness"),
      });
    }
  }
});

test("a rawRead that answers the live messages alone is found out, too", async () => {
  const { rawRead = () => [], ...harness } = referenceHarness();
  const isLive = (text: string) => !text.includes('"rows"') && text.includes('"state":"live"');
  const report = await runConformance(
    { ...harness, rawRead: async (memoryId) => (await rawRead(memoryId)).filter(isLive) },
    { names: [...erasures.slice(0, 2), "what is removed is gone", "record is gone"] },
  );
  expect(report.counts).toMatchObject({ passed: 0, failed: 6 });
});

const { counted, ...reference } = referenceHarness();

test.each<[string, Partial<ConformanceHarness>, string, string]>([
  ["rawWrite", { rawWrite: () => {} }, "a corrupt record is named", "rawWrite of the harness changes"],
  ["rawRemove", { rawRemove: () => {} }, "whatever record is gone", "rawRemove of the harness changes"],
  [
    "count",
    {
      counted: async () => ({
        ...((await counted?.()) as CountedClient),
        count: () => ({ steps: 0, bytes: 0 }),
      }),
    },
    "a read takes the declared number of steps",
    "count of the harness",
  ],
  [
    "unreachable",
    { unreachable: async () => ({ store: await reference.create({}), secret: "s3cret" }) },
    "no error tells a secret of the address",
    "unreachable store fail",
  ],
])("what %s of the harness does not do is found out", async (_, member, name, what) => {
  const { results } = await runConformance({ ...reference, counted, ...member }, { names: [name] });
  expect(results).toMatchObject([{ status: "failed", message: expect.stringContaining(what) }]);
});
