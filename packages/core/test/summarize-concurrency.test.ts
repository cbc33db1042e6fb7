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
  user,
} from "../src/index.ts";
import { gate } from "./gate.ts";
import { mapHooks } from "./stores-support.ts";
import {
  audited,
  delayed,
  isSummary,
  Ledger,
  numbers,
  say,
  states,
  summarizing,
  textOf,
  texts,
} from "./summarize-support.ts";

type Memory = ChatMemory<ModelMessageLike>;

const limit = 6;
const stores: [string, () => ChatMemoryStore][] = [
  ["in memory", () => inMemoryStore()],
  ["in a key-value database", () => keyValueStore(mapHooks())],
];
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
        { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 60) },
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
          const ids = await say(plain, ...numbers(0, 5));
          const memories = [0, 1].map(() => summarizing(delayed(store, wait), summarize)) as [Memory, Memory];
          const adding = say(memories[0], ...numbers(6, 8));
          const run = ({ who, kind, place }: (typeof acts)[number], index: number): Promise<unknown> => {
            const memory = memories[who] as Memory;
            const id = ids[place % ids.length] as string;
            if (kind === "add") return say(memory, `added ${index}`);
            if (kind === "put") return memory.put(id, user(`put ${index}`));
            if (kind === "remove") return memory.remove(id);
            if (kind === "rewind") return memory.rewind(id);
            if (kind === "clear") return memory.clear();
            if (kind === "set") return memory.set(numbers(20, 20 + place).map((word) => user(word)));
            if (kind === "shrink") return memory.shrink();
            if (kind === "system") return memory.add(system(`system ${index}`));
            return memory.compact({ through: id, replacement: user(`compacted ${index}`) });
          };
          const settled = await scheduler.waitFor(Promise.allSettled([adding, ...acts.map(run)]));
          for (const result of settled) {
            if (result.status === "fulfilled") continue;
            const expected = ["VERSION_CONFLICT", "ID_CONFLICT", "INVALID_OPTION", "NOT_FOUND"] as const;
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
          expect(said).toEqual(expect.arrayContaining(numbers(0, 8)));
          for (const [index, { kind }] of acts.entries())
            if (kind === "add") expect(said).toContain(`added ${index}`);
        }),
        { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 80) },
      );
    });
  },
);

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
            for (const word of numbers(1, 12)) {
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
          expect(said).toEqual([...numbers(1, said.length - 1), "word 13"]);
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
    ["and nobody wrote since", async () => {}, ["§0", ...numbers(6, 7)]],
    ["and somebody added since", (other) => say(other, "word 8"), ["§0", ...numbers(6, 8)]],
    [
      "and another summary has replaced it since",
      (_other, summarizer) => say(summarizer, ...numbers(8, 12)),
      ["§1", ...numbers(11, 12)],
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
    await say(memory, ...numbers(1, 7));
    expect(lost).toBe(1);
    expect(await texts(memory)).toEqual(shown);
    expect(ledger.expand(await texts(memory))).toEqual(
      numbers(1, shown.includes("word 12") ? 12 : shown.length + 4),
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
    1000,
  );
  expect(await say(memory, ...numbers(1, 7))).toHaveLength(7);
  expect(events.at(-1)).toMatchObject({ type: "summarize-failed", reason: "store" });
  gone = false;
  expect(await texts(memory)).toEqual(numbers(2, 7));
  await memory.add(assistant("word 8"));
  expect(await texts(memory)).toEqual(["§1", "word 7", "word 8"]);
  expect(ledger.expand(["§1"])).toEqual(numbers(1, 6));
});
