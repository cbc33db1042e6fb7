import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  keyValueStore,
  type MemoryEvent,
  type ModelMessageLike,
  type Summarize,
  system,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { mapHooks } from "./stores-support.ts";
import { audited, delayed, gate, isSummary, Ledger, states, textOf, texts } from "./summarize-support.ts";

type Memory = ChatMemory<ModelMessageLike>;

const limit = 6;
const stores: [string, () => ChatMemoryStore][] = [
  ["in memory", () => inMemoryStore()],
  ["in a key-value database", () => keyValueStore(mapHooks())],
];
const window = { maxMessages: limit, target: 0.5 };
const words = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `word ${from + index}`);
const say = (memory: Memory, ...said: string[]): Promise<string[]> =>
  memory.add(...said.map((word) => user(word)));

function summarizing(
  store: ChatMemoryStore,
  summarize: Summarize<ModelMessageLike>,
  onEvent?: (event: MemoryEvent) => void,
  timeoutMs?: number,
): Memory {
  return createChatMemory<ModelMessageLike>({
    id: "m",
    store,
    window: { ...window, summarize },
    onEvent,
    timeoutMs,
  });
}

/** What left without a summary. */
function plainly(events: readonly MemoryEvent[]): string[] {
  const folded = new Set(events.flatMap((event) => (event.type === "summarized" ? event.messageIds : [])));
  return events
    .flatMap((event) => (event.type === "evicted" && event.reason === "window" ? event.messageIds : []))
    .filter((id) => !folded.has(id));
}

describe.each(stores)(
  "two memories over one store %s, both summarizing, interleaved at every wait",
  (_name, create) => {
    test("every message is shown, summarized or plainly evicted, and none twice; no view exceeds the window", async () => {
      const plan = fc.array(fc.record({ who: fc.nat(1), size: fc.integer({ min: 1, max: 4 }) }), {
        minLength: 3,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), plan, fc.boolean(), async (scheduler, adds, looks) => {
          const ledger = new Ledger();
          const store = audited(create(), ledger);
          const events: MemoryEvent[] = [];
          const wait = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
          const summarize: Summarize<ModelMessageLike> = async (evicted) => {
            await wait("summary asked");
            const answer = ledger.answerFor(evicted);
            await wait("summary answered");
            return answer;
          };
          const memories = [0, 1].map(() =>
            summarizing(delayed(store, wait), summarize, (event) => events.push(event)),
          ) as [Memory, Memory];
          const views: Promise<string[]>[] = [];
          const done = adds.map(({ who, size }, index) => {
            const memory = memories[who] as Memory;
            const said = say(memory, ...Array.from({ length: size }, (_, part) => `${who} ${index} ${part}`));
            if (looks) views.push(texts(memory));
            return said;
          });
          const ids = (await scheduler.waitFor(Promise.all(done))).flat();
          const seen = await scheduler.waitFor(Promise.all([...views, ...memories.map(texts)]));
          for (const view of seen) {
            expect(view.length).toBeLessThanOrEqual(limit);
            expect(view.filter(isSummary).length).toBeLessThanOrEqual(1);
            expect(view.slice(1).some(isSummary)).toBe(false);
          }
          expect(store.faults).toEqual([]);
          const { messages } = await createChatMemory<ModelMessageLike>({ id: "m", store }).history();
          const said = messages.map(({ message }) => textOf(message));
          const textOfId = new Map(messages.map(({ id, message }) => [id, textOf(message)]));
          expect([...textOfId.keys()].sort()).toEqual([...ids].sort());
          const view = seen.at(-1) as string[];
          expect(seen.at(-2)).toEqual(view);
          expect((await store.getMessages("m")).messages.length).toBeLessThanOrEqual(limit);
          const without = plainly(events).map((id) => textOfId.get(id));
          expect([...ledger.expand(view), ...without].sort()).toEqual([...said].sort());
        }),
        { numRuns: 60 },
      );
    });

    test("whatever else is called meanwhile takes effect, and no summary stands for what it took away", async () => {
      const act = fc.record({
        who: fc.nat(1),
        kind: fc.constantFrom(
          "add",
          "put",
          "remove",
          "rewind",
          "clear",
          "set",
          "compact",
          "shrink",
          "system",
        ),
        place: fc.nat(8),
      });
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), fc.array(act, { maxLength: 6 }), async (scheduler, acts) => {
          const ledger = new Ledger();
          const raw = create();
          const store = audited(raw, ledger);
          const wait = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
          const summarize: Summarize<ModelMessageLike> = async (evicted) => {
            await wait("summary asked");
            return ledger.answerFor(evicted);
          };
          const plain = createChatMemory<ModelMessageLike>({ id: "m", store: raw });
          const ids = await say(plain, ...words(0, 5));
          const memories = [0, 1].map(() => summarizing(delayed(store, wait), summarize)) as [Memory, Memory];
          const adding = say(memories[0], ...words(6, 8));
          const run = ({ who, kind, place }: (typeof acts)[number], index: number): Promise<unknown> => {
            const memory = memories[who] as Memory;
            const id = ids[place % ids.length] as string;
            if (kind === "add") return say(memory, `added ${index}`);
            if (kind === "put") return memory.put(id, user(`put ${index}`));
            if (kind === "remove") return memory.remove(id);
            if (kind === "rewind") return memory.rewind(id);
            if (kind === "clear") return memory.clear();
            if (kind === "set") return memory.set(words(20, 20 + place).map((word) => user(word)));
            if (kind === "shrink") return memory.shrink();
            if (kind === "system") return memory.add(system(`system ${index}`));
            return memory.compact({ through: id, replacement: user(`compacted ${index}`) });
          };
          const settled = await scheduler.waitFor(Promise.allSettled([adding, ...acts.map(run)]));
          for (const result of settled) {
            if (result.status === "fulfilled") continue;
            const expected = ["VERSION_CONFLICT", "ID_CONFLICT", "INVALID_OPTION"] as const;
            if (!expected.some((code) => isTurnkeepError(result.reason, code))) throw result.reason;
          }
          expect(store.faults).toEqual([]);
          const views = await scheduler.waitFor(Promise.all(memories.map(texts)));
          expect(views[0]).toEqual(views[1]);
          expect(views[0]?.length).toBeLessThanOrEqual(limit);
          const derived = (await raw.getMessages("m")).messages.filter(({ meta }) =>
            meta?.includes("derived"),
          );
          expect(derived.length).toBeLessThanOrEqual(1);
          const said = (await plain.history()).messages.map(({ message }) => textOf(message));
          expect(said.filter((text) => isSummary(text) || text.startsWith("compacted"))).toEqual([]);
          if (acts.some(({ kind }) => kind === "clear" || kind === "remove" || kind === "put")) return;
          expect(said).toEqual(expect.arrayContaining(words(0, 8)));
          for (const [index, { kind }] of acts.entries())
            if (kind === "add") expect(said).toContain(`added ${index}`);
        }),
        { numRuns: 80 },
      );
    });
  },
);

describe("the memory is changed while a summary of five messages is made", () => {
  type Change = (memory: Memory, ids: readonly string[], store: ChatMemoryStore) => Promise<unknown>;
  const used = 1;
  const cases: [string, Change, readonly string[], readonly (readonly string[])[], number][] = [
    ["nothing", async () => {}, ["§0", "word 6", "word 7"], [], used],
    ["somebody adds", (memory) => say(memory, "word 8"), ["§0", ...words(6, 8)], [], used],
    [
      "somebody adds more than fits beside it: it is used, and the rest is summarized with it",
      (memory) => say(memory, ...words(8, 12)),
      ["§1", ...words(11, 12)],
      [["§0", ...words(6, 10)]],
      2,
    ],
    [
      "another system message",
      (memory) => memory.add(system("s")),
      ["s", "§0", "word 6", "word 7"],
      [],
      used,
    ],
    [
      "a message that stays is replaced",
      (memory, ids) => memory.put(ids[6] as string, user("word 7b")),
      ["§0", "word 6", "word 7b"],
      [],
      used,
    ],
    [
      "a message that leaves is replaced: asked again",
      (memory, ids) => memory.put(ids[1] as string, user("word 2b")),
      ["§1", "word 6", "word 7"],
      [["word 1", "word 2b", ...words(3, 5)]],
      1,
    ],
    [
      "a message that leaves is removed: what is left fits",
      (memory, ids) => memory.remove(ids[1] as string),
      ["word 1", ...words(3, 7)],
      [],
      0,
    ],
    [
      "one is removed and others are added: asked again, without it",
      async (memory, ids) => {
        await memory.remove(ids[1] as string);
        await say(memory, "word 8");
      },
      ["§1", "word 7", "word 8"],
      [["word 1", ...words(3, 6)]],
      1,
    ],
    ["a rewind to what leaves", (memory, ids) => memory.rewind(ids[3] as string), words(1, 3), [], 0],
    [
      "a rewind to what stays: all fits",
      (memory, ids) => memory.rewind(ids[6] as string),
      words(1, 6),
      [],
      0,
    ],
    ["clear: nothing is begun again", (memory) => memory.clear(), [], [], 0],
    [
      "set",
      async (memory) => {
        await memory.messages();
        await memory.set([user("new")]);
      },
      ["new"],
      [],
      0,
    ],
    [
      "somebody compacts",
      (memory, ids) => memory.compact({ through: ids[2] as string, replacement: user("own") }),
      ["own", ...words(4, 7)],
      [],
      0,
    ],
    ["shrink: what is left fits", (memory) => memory.shrink(), words(4, 7), [], 0],
    [
      "another memory was faster",
      async (_memory, _ids, store) => {
        const other = summarizing(store, () => user("their"));
        await say(other, "word 8");
      },
      ["their", ...words(7, 8)],
      [],
      0,
    ],
  ];

  test.each(cases)("%s", async (_name, change, shown, askedAgain, commits) => {
    const ledger = new Ledger();
    const raw = inMemoryStore();
    const store = audited(raw, ledger);
    const { opened, open } = gate();
    const events: MemoryEvent[] = [];
    const memory = summarizing(
      store,
      async (evicted, context) => {
        const answer = await ledger.summarize(evicted, context);
        if (ledger.calls.length === 1) await opened;
        return answer;
      },
      (event) => events.push(event),
    );
    const ids = await say(memory, ...words(1, 6));
    const adding = memory.put("seventh", user("word 7"));
    await expect.poll(() => ledger.calls.length).toBe(1);
    await change(createChatMemory<ModelMessageLike>({ id: "m", store: raw }), [...ids, "seventh"], raw);
    open();
    await adding;
    expect(await texts(memory)).toEqual(shown);
    expect(ledger.calls.slice(1).map((call) => call.texts)).toEqual(askedAgain);
    expect(store.summaries).toHaveLength(commits);
    expect(store.faults).toEqual([]);
    const unused = events.filter((event) => event.type === "summarize-failed");
    expect(unused.map((event) => event.reason)).toEqual(
      commits === 0 || (shown[0] === "§1" && commits === 1) ? ["conflict"] : [],
    );
  });

  test("a result that comes for a call that leaves: asked again, with it", async () => {
    const ledger = new Ledger();
    const raw = inMemoryStore();
    const { opened, open } = gate();
    const memory = summarizing(audited(raw, ledger), async (evicted, context) => {
      const answer = await ledger.summarize(evicted, context);
      if (ledger.calls.length === 1) await opened;
      return answer;
    });
    await memory.add(toolCall("c", "look", {}), ...words(1, 4).map((word) => user(word)));
    // Seven messages are shown: the call that waits in vain has a result that says so.
    const adding = say(memory, "word 5");
    await expect.poll(() => ledger.calls.length).toBe(1);
    await createChatMemory<ModelMessageLike>({ id: "m", store: raw }).add(toolResult("c", "look", "found"));
    open();
    await adding;
    expect(ledger.calls).toHaveLength(2);
    expect(ledger.calls[1]?.texts[1]).toContain("found");
    expect(await texts(memory)).toEqual(["§1", "word 4", "word 5"]);
  });

  test.each<
    [string, (memory: Memory, summaryId: string, fifth: string) => Promise<unknown>, readonly string[]]
  >([
    [
      "edited: asked again, with what it says now",
      (memory, summaryId) => memory.put(summaryId, user("edited")),
      ["§2", ...words(10, 11)],
    ],
    ["removed: what is left fits", (memory, summaryId) => memory.remove(summaryId), words(6, 11)],
    [
      "replaced by a compact that reaches no further: asked again, with that",
      (memory, _summaryId, fifth) => memory.compact({ through: fifth, replacement: user("own") }),
      ["§2", ...words(10, 11)],
    ],
  ])("the earlier summary is %s", async (_name, change, shown) => {
    const ledger = new Ledger();
    const raw = inMemoryStore();
    const store = audited(raw, ledger);
    const { opened, open } = gate();
    const memory = summarizing(store, async (evicted, context) => {
      const answer = await ledger.summarize(evicted, context);
      if (ledger.calls.length === 2) await opened;
      return answer;
    });
    const ids = await say(memory, ...words(1, 7));
    const [summary] = store.summaries[0]?.append ?? [];
    const adding = say(memory, ...words(8, 11));
    await expect.poll(() => ledger.calls.length).toBe(2);
    const other = createChatMemory<ModelMessageLike>({ id: "m", store: raw });
    await change(other, summary?.id as string, ids[4] as string);
    open();
    await adding;
    expect(await texts(memory)).toEqual(shown);
    expect(store.faults).toEqual([]);
  });

  test("changed each time it is asked: after three times what does not fit leaves without a summary", async () => {
    const raw = inMemoryStore();
    const events: MemoryEvent[] = [];
    let times = 0;
    const [first] = await createChatMemory<ModelMessageLike>({ id: "m", store: raw }).add(user("0"));
    const memory = summarizing(
      raw,
      async () => {
        const other = createChatMemory<ModelMessageLike>({ id: "m", store: raw });
        await other.put(first as string, user(`changed ${++times}`));
        return user("sum");
      },
      (event) => events.push(event),
    );
    await say(memory, ...words(1, 6));
    expect(times).toBe(3);
    expect(await texts(memory)).toEqual(words(1, 6));
    const failed = events.filter((event) => event.type === "summarize-failed");
    expect(failed.map((event) => event.reason)).toEqual(["conflict", "conflict", "conflict"]);
    expect(events.at(-1)).toMatchObject({ type: "evicted", messageIds: [first] });
  });
});

describe("the process is killed", () => {
  /** A process that dies at its `calls`-th call to the store or the model, before the call or before its answer. */
  function mortal(
    store: ChatMemoryStore,
    calls: number,
    acts: boolean,
  ): { store: ChatMemoryStore; died: Promise<void>; step<T>(act: () => Promise<T>): Promise<T> } {
    let left = calls;
    const { opened: died, open: die } = gate();
    const step = async <T>(act: () => Promise<T>): Promise<T> => {
      if (left-- > 0) return act();
      if (acts && left === -1) await act();
      die();
      return new Promise<never>(() => {});
    };
    return {
      died,
      step,
      store: {
        ...store,
        getMessages: (...given) => step(() => store.getMessages(...given)),
        updateMessages: (...given) => step(() => store.updateMessages(...given)),
        getHistory: (...given) => step(() => store.getHistory(...given)),
      },
    };
  }

  test.each(stores)(
    "at any call to the store (%s) or the model, before or after it acted: the next add makes up for it",
    async (_name, create) => {
      for (const acts of [false, true]) {
        let calls = 0;
        for (let finished = false; !finished; calls++) {
          const ledger = new Ledger();
          const store = audited(create(), ledger);
          const process = mortal(store, calls, acts);
          const dying = summarizing(process.store, (evicted) =>
            process.step(async () => ledger.answerFor(evicted)),
          );
          const acknowledged: string[] = [];
          const living = (async () => {
            for (const word of words(1, 12)) {
              await say(dying, word);
              acknowledged.push(word);
            }
            finished = true;
          })();
          await Promise.race([living, process.died]);
          const next = summarizing(store, ledger.summarize);
          expect((await texts(next)).length).toBeLessThanOrEqual(limit);
          await say(next, "word 13");
          const view = await texts(next);
          const said = (await next.history()).messages.map(({ message }) => textOf(message));
          expect(view.length).toBeLessThanOrEqual(limit);
          expect((await store.getMessages("m")).messages.length).toBeLessThanOrEqual(limit);
          expect(said).toEqual([...words(1, said.length - 1), "word 13"]);
          expect(said.length - 1).toBeGreaterThanOrEqual(acknowledged.length);
          expect(ledger.expand(view)).toEqual(said);
          expect(store.faults).toEqual([]);
        }
        // A read and twelve adds, and two rounds, each a question and a write: there was no kill that was not tried.
        expect(calls).toBeGreaterThan(13 + 2 * 2);
      }
    },
  );
});

describe("the acknowledgement of a summary is lost", () => {
  const cases: [string, (other: Memory, summarizer: Memory) => Promise<unknown>, readonly string[]][] = [
    ["and nobody wrote since", async () => {}, ["§0", ...words(6, 7)]],
    ["and somebody added since", (other) => say(other, "word 8"), ["§0", ...words(6, 8)]],
    [
      "and another summary has replaced it since",
      (_other, summarizer) => say(summarizer, ...words(8, 12)),
      ["§1", ...words(11, 12)],
    ],
  ];
  test.each(cases)("%s: it stands once, and is not asked for again", async (_name, meanwhile, shown) => {
    const ledger = new Ledger();
    const raw = audited(inMemoryStore(), ledger);
    const other = createChatMemory<ModelMessageLike>({ id: "m", store: raw });
    let lost = 0;
    const store: ChatMemoryStore = {
      ...raw,
      updateMessages: async (id, update, options) => {
        await raw.updateMessages(id, update, options);
        if (lost > 0 || !update.append.some(({ meta }) => meta?.includes("derived"))) return;
        lost++;
        await meanwhile(other, summarizing(raw, ledger.summarize));
        throw new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");
      },
    };
    const memory = summarizing(store, ledger.summarize);
    await say(memory, ...words(1, 7));
    expect(lost).toBe(1);
    expect(await texts(memory)).toEqual(shown);
    expect(ledger.expand(await texts(memory))).toEqual(
      words(1, shown.includes("word 12") ? 12 : shown.length + 4),
    );
    expect(raw.summaries).toHaveLength(shown[0] === "§1" ? 2 : 1);
    expect(raw.faults).toEqual([]);
    expect((await states(memory)).every((state) => !isSummary(state))).toBe(true);
  });
});

test("a store that goes away while a summary is made: the add stands, and the next one comes back to it", async () => {
  const ledger = new Ledger();
  const raw = inMemoryStore();
  let gone = false;
  const fail = (): Promise<never> => Promise.reject(new Error("gone"));
  const store: ChatMemoryStore = {
    ...raw,
    getMessages: (...given) => (gone ? fail() : raw.getMessages(...given)),
    updateMessages: (...given) => (gone ? fail() : raw.updateMessages(...given)),
  };
  const events: MemoryEvent[] = [];
  const memory = summarizing(
    audited(store, ledger),
    (evicted, context) => {
      gone = ledger.calls.length === 0;
      return ledger.summarize(evicted, context);
    },
    (event) => events.push(event),
  );
  expect(await say(memory, ...words(1, 7))).toHaveLength(7);
  expect(events.at(-1)).toMatchObject({ type: "summarize-failed", reason: "store" });
  gone = false;
  expect(await texts(memory)).toEqual(words(2, 7));
  await memory.add(assistant("word 8"));
  expect(await texts(memory)).toEqual(["§1", "word 7", "word 8"]);
  expect(ledger.expand(["§1"])).toEqual(words(1, 6));
});
