import type { ChatMemoryStore } from "@turnkeep/core";
import { expect, test } from "vitest";
import { neededFrom } from "../src/case.ts";
import {
  type ConformanceCase,
  ConformanceError,
  type ConformanceGroup,
  type ConformanceHarness,
  cases,
  type FaultOptions,
  formatReport,
  type HarnessCreateOptions,
  runConformance,
} from "../src/index.ts";
import { normalizeOptions } from "../src/run.ts";
import { ConformanceSession } from "../src/session.ts";
import { brokenCalls } from "./broken-calls.ts";
import { referenceHarness } from "./reference-store.ts";

function caseOf(run: ConformanceCase["run"], over: Partial<ConformanceCase> = {}): ConformanceCase {
  return { name: "mine", group: "basic", sentence: "It is so.", run, ...over };
}

test("groups and names choose cases", async () => {
  const groups = await runConformance(referenceHarness(), { groups: ["order", "basic"] });
  expect(Object.keys(groups.groups)).toEqual(["basic", "order"]);
  expect(groups.results).toHaveLength(cases.filter(({ group }) => ["basic", "order"].includes(group)).length);
  const names = await runConformance(referenceHarness(), { names: ["race"], groups: ["atomicity"] });
  expect(names.results.map(({ name }) => name).sort()).toEqual([
    "a delete that races a beginning leaves all of it or nothing",
    "a delete that races a large update leaves nothing behind",
    "a delete that races an append leaves nothing behind",
    "a delete that races the next beginning leaves that beginning whole",
    "of a delete of one version and a write that race, one takes place",
  ]);
});

test("options that choose nothing, or are of another kind, are refused", async () => {
  const run = (options: object) => runConformance(referenceHarness(), options);
  await expect(run({ groups: ["bsic" as ConformanceGroup] })).rejects.toThrow("There is no group bsic");
  await expect(run({ names: ["nothing like it"] })).rejects.toThrow('No case has "nothing like it"');
  await expect(run({ groups: ["order"], names: ["1 MB"] })).rejects.toThrow("leave no case");
  await expect(run({ seed: 1.5 })).rejects.toThrow("seed");
  await expect(run({ timeoutMs: 0 })).rejects.toThrow("timeoutMs");
  await expect(run({ totalMs: 0 })).rejects.toThrow("totalMs");
  await expect(run({ bail: 0 })).rejects.toThrow("bail");
  await expect(run({ path: "1:x" })).rejects.toThrow("path must be a path as a failed case printed it");
  const sequences = { names: ["random sequences"], seed: 1 };
  await expect(run({ ...sequences, path: "0:100000" })).rejects.toThrow("The path 0:100000 leads nowhere");
  await expect(run({ group: ["order"] })).rejects.toThrow(
    'The kit\'s options takes groups, names, seed, path, timeoutMs, cases, signal, onResult, bail, totalMs; it was given "group".',
  );
  await expect(run({ names: "append" })).rejects.toThrow('names must be a list; it is "append".');
  await expect(run(null as never)).rejects.toThrow(
    "The kit's options must be an object of options; it is null.",
  );
  await expect(run([])).rejects.toThrow("The kit's options must be an object of options; it is an array.");
  expect((await run({ groups: ["order"], nothing: undefined })).ok).toBe(true);
});

test("a binding refuses options that only a run takes", () => {
  const { signal } = new AbortController();
  expect(() => normalizeOptions({ signal } as object)).toThrow('it was given "signal"');
});

test("a harness with a misspelt member, or one that is no function, is refused", async () => {
  const harness = referenceHarness();
  const run = (over: object) => runConformance({ ...harness, ...over }, { groups: ["order"] });
  await expect(run({ rawread: () => [] })).rejects.toThrow(
    'has create, destroy, reopen, advance, rawRead, rawWrite, rawRemove, fault, given, elsewhere, unreachable, counted, databaseNow; it was given "rawread"',
  );
  await expect(run({ fault: true })).rejects.toThrow("fault of a conformance harness must be a function");
  await expect(run({ destroy: Promise.resolve() })).rejects.toThrow("it is a promise: await it first.");
  // What a harness keeps for itself, and what a class of the user's has besides.
  expect((await run({ url: "postgres://here", reopen: undefined })).ok).toBe(true);
  class Mine implements ConformanceHarness {
    readonly connect = () => harness.create({});
    create = harness.create;
  }
  expect((await runConformance(new Mine(), { groups: ["order"] })).ok).toBe(true);
});

test("a harness may be of a class whose methods use `this`", async () => {
  class Mine implements ConformanceHarness {
    readonly #reference = referenceHarness();
    create(options: HarnessCreateOptions) {
      return this.#reference.create(options);
    }
    fault(options: FaultOptions) {
      return neededFrom(this.#reference, "fault")(options);
    }
    given() {
      return neededFrom(this.#reference, "given")();
    }
  }
  const needing = cases.filter(({ needs }) => needs?.every((name) => name === "fault" || name === "given"));
  const { counts } = await runConformance(new Mine(), { cases: needing });
  expect(counts).toEqual({ passed: needing.length, failed: 0, warned: 0, skipped: 0 });
});

test("a harness that fails makes the run reject, with its own error", async () => {
  const down = () => Promise.reject(new Error("the server is down"));
  await expect(runConformance({ create: down })).rejects.toThrow("the server is down");
  await expect(runConformance({} as ConformanceHarness)).rejects.toThrow("create()");
  await expect(runConformance({ create: () => ({}) as ChatMemoryStore })).rejects.toThrow("capabilities");
  const { create } = referenceHarness();
  const one = await create({});
  await expect(runConformance({ create: () => one })).rejects.toThrow("another client");
});

/** A harness whose clients are counted while they are open, and what it is told at the end. */
function watchedHarness(fails: (made: number) => boolean = () => false) {
  const harness = referenceHarness();
  const calls: string[] = [];
  let [made, open] = [0, 0];
  const opened = (store: ChatMemoryStore): ChatMemoryStore => {
    open++;
    let closed = false;
    const close = async () => {
      if (!closed) open--;
      closed = true;
      await store.close();
    };
    return { ...store, close, [Symbol.asyncDispose]: close };
  };
  const create: ConformanceHarness["create"] = async (options) => {
    if (fails(++made)) throw new Error("too many connections");
    return opened(await harness.create(options));
  };
  const counted: ConformanceHarness["counted"] = async () => {
    const { store, count } = await neededFrom(harness, "counted")();
    return { store: opened(store), count };
  };
  return { ...harness, create, counted, destroy: () => void calls.push(`destroy with ${open} open`), calls };
}

test("every client that was made is closed, and destroy is called once, at the end", async () => {
  const harness = watchedHarness();
  const countedCases = cases.filter(({ needs }) => needs?.includes("counted"));
  await runConformance(harness, { cases: countedCases });
  await runConformance(harness, { groups: ["basic", "lifecycle", "ttl"] });
  expect(harness.calls).toEqual(["destroy with 0 open", "destroy with 0 open"]);
});

test("the first client is closed where the second cannot be made", async () => {
  const harness = watchedHarness((made) => made === 2);
  await expect(runConformance(harness)).rejects.toThrow("too many connections");
  expect(harness.calls).toEqual(["destroy with 0 open"]);
});

test("a client of a case is closed where those of the run cannot be made anew", async () => {
  const harness = watchedHarness((made) => made > 3);
  const reopens = caseOf(async (context) => {
    await context.create();
    await context.reopen();
  });
  await runConformance(harness, { cases: [reopens] });
  expect(harness.calls).toEqual(["destroy with 0 open"]);
});

test("what a case wrote is deleted after it", async () => {
  const harness = referenceHarness();
  const ids: string[] = [];
  const mine = caseOf(async (context) => {
    const memory = context.memory();
    ids.push(memory.id);
    await memory.commit({ append: 1 });
    throw new ConformanceError("expected nothing, saw nothing");
  });
  await runConformance(harness, { cases: [mine] });
  expect(ids).toHaveLength(1);
  expect(await harness.rawRead?.(ids[0] ?? "")).toEqual(["null"]);
});

test("a case that does not end fails in time, and the next one runs", async () => {
  const report = await runConformance(referenceHarness(), {
    cases: [
      caseOf(() => new Promise(() => {}), { name: "hangs" }),
      caseOf(async () => {}, { name: "goes on" }),
    ],
    timeoutMs: 1_000,
  });
  expect(report.results.map(({ status }) => status)).toEqual(["failed", "passed"]);
  expect(formatReport(report)).toContain("expected an end within 1000 ms, saw none");
});

test("a provisional case warns and does not count", async () => {
  const failing = caseOf(
    async () => {
      throw new ConformanceError("the head: expected 1, saw 2");
    },
    { provisional: true },
  );
  const report = await runConformance(referenceHarness(), {
    cases: [failing, caseOf(async () => {}, { name: "other" })],
  });
  expect(report.ok).toBe(true);
  expect(report.counts).toEqual({ passed: 1, failed: 0, warned: 1, skipped: 0 });
  expect(formatReport(report)).toContain("WARNING basic: mine");
});

test("a run in which nothing passed is not ok", async () => {
  const report = await runConformance(referenceHarness({ capabilities: { list: false } }), {
    names: ["a list query that is not as described is refused"],
  });
  expect(report.ok).toBe(false);
});

test("a signal ends the run before the next case", async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  const run = runConformance(referenceHarness(), {
    signal: controller.signal,
    onResult: ({ name }) => {
      seen.push(name);
      if (seen.length === 2) controller.abort(new Error("enough"));
    },
  });
  await expect(run).rejects.toThrow("enough");
  expect(seen).toHaveLength(2);
});

test("the report tells the sentence, what was seen, what was declared, and the seed", async () => {
  const harness = referenceHarness({
    capabilities: { list: false },
    wrap: (base) => ({
      updateMessages: (id, { owner: _, ...update }, options) => base.updateMessages(id, update, options),
    }),
  });
  const report = await runConformance(harness, { groups: ["basic", "list"], seed: 42 });
  expect(report.counts).toEqual({ passed: 18, failed: 1, warned: 0, skipped: 32 });
  const lines = formatReport(report)
    .split("\n")
    .filter((line) => !line.startsWith("The harness lacks "));
  expect(lines.slice(0, 10)).toEqual([
    "The store declares durable, shared, history, newest, ttl, delta, readSteps 1 and maxMessageBytes 2097152.",
    `A part of the kit: 51 of ${cases.length} cases.`,
    "",
    "✗ basic      17 passed, 1 failed, 1 skipped",
    "✓ list       1 passed, 31 skipped",
    "",
    "FAILED basic: the owner stays until an update names another",
    "  contract: The owner from now on. Absent: unchanged; none, for a memory that begins.",
    '  seen:     getMessages after an owner was given, owner: expected "alice", saw undefined',
    "",
  ]);
  expect(lines).toContain(
    "skipped list: the pages of a list hold each memory once (the store declares list: false)",
  );
  expect(lines.at(-1)).toBe("Does not conform: 18 passed, 1 failed, 32 skipped; seed 42");
});

test("what many cases fail by is told once, and all of them by name", async () => {
  const failing = (name: string, message: string) =>
    caseOf(() => Promise.reject(new Error(message)), { name });
  const report = await runConformance(referenceHarness(), {
    cases: [
      failing("first", "not there"),
      failing("another", "lost"),
      failing("second", "not there"),
      failing("third", "not there"),
    ],
  });
  const lines = formatReport(report).split("\n");
  expect(lines.filter((line) => line.includes("not there"))).toHaveLength(1);
  const begin = lines.indexOf("FAILED basic: first");
  expect(lines.slice(begin + 3, begin + 7)).toEqual([
    "  so too:   basic: second",
    "            basic: third",
    "",
    "FAILED basic: another",
  ]);
});

test("a failed sequence is repeated by the seed and path that it prints", async () => {
  const broken = brokenCalls.find(({ fault }) => fault.startsWith("forgets the head of an update"));
  const sequences = cases.filter(({ name }) => name.startsWith("random sequences"));
  const first = await runConformance(referenceHarness(broken), { cases: sequences });
  const [failed] = first.results;
  if (failed?.status !== "failed") throw new Error(`expected a failed case, saw ${failed?.status}`);
  const printed = /runConformance\(harness, (\{.*\})\)/.exec(failed.message)?.[1] ?? "";
  const options = JSON.parse(printed) as { names: string[]; seed: number; path: string };
  expect(options.seed).toBe(first.seed);

  const [again] = (await runConformance(referenceHarness(broken), options)).results;
  if (again?.status !== "failed") throw new Error(`expected a failed case, saw ${again?.status}`);
  const steps = (message: string) => message.split("\n").filter((line) => line.startsWith("- "));
  expect(steps(again.message)).toEqual(steps(failed.message));
  expect(steps(again.message).length).toBeGreaterThan(0);
  expect((await runConformance(referenceHarness(), options)).ok).toBe(true);
});

test("clients that are asked for while they are made are made once", async () => {
  const harness = referenceHarness();
  let made = 0;
  const create: ConformanceHarness["create"] = (options) => {
    made++;
    return harness.create(options);
  };
  const options = { seed: 1, timeoutMs: 10_000, repeat: () => "" };
  const session = new ConformanceSession({ ...harness, create }, options);
  await Promise.all([session.capabilities(), session.capabilities()]);
  expect(made).toBe(2);
  await session.end();
});

test("a limit above what a timer can wait is no short one", async () => {
  const waits = caseOf(() => new Promise<void>((resolve) => setTimeout(resolve, 50)));
  const { ok, results } = await runConformance(referenceHarness(), { cases: [waits], timeoutMs: 2 ** 31 });
  expect([ok, results[0]?.status]).toEqual([true, "passed"]);
});

test("a harness or a client that never answers ends the run, too", async () => {
  const never = () => new Promise<never>(() => {});
  const options = { groups: ["order"], timeoutMs: 60 } as const;
  await expect(runConformance({ create: never }, options)).rejects.toThrow(
    "create() has not ended within 300 ms",
  );
  const harness = referenceHarness();
  const { results, harnessFailure } = await runConformance({ ...harness, destroy: never }, options);
  expect(results).toHaveLength(cases.filter(({ group }) => group === "order").length);
  expect(harnessFailure?.message).toContain("The harness's destroy() has not ended within 300 ms");
  const create: ConformanceHarness["create"] = async (given) => ({
    ...(await harness.create(given)),
    close: never,
  });
  expect((await runConformance({ ...harness, create }, { ...options, timeoutMs: 2_000 })).ok).toBe(true);
});
