import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelMessageFormat as format } from "../src/format/model-message-format.ts";
import {
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  type MemoryEvent,
  type ModelMessageLike,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { conversationEvent, messageOf } from "./conversations.ts";
import { besideChanges } from "./events.ts";
import { audited, isSummary, Ledger, partsIn, textOf } from "./summarize-support.ts";
import { characterCounter, faultsOf, saidIn } from "./window-reference.ts";

const limits = fc.oneof(
  fc.record({ maxMessages: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ maxTokens: fc.integer({ min: 40, max: 250 }), reserve: fc.nat(20) }),
  fc.record({
    maxMessages: fc.integer({ min: 1, max: 12 }),
    maxTokens: fc.integer({ min: 40, max: 250 }),
    reserve: fc.nat(20),
  }),
);
const isPinned = (message: ModelMessageLike): boolean => textOf(message).startsWith("PIN");
const windows = fc
  .tuple(
    limits,
    fc.record({
      unit: fc.constantFrom("step" as const, "turn" as const),
      overflow: fc.constantFrom("throw" as const, "evict" as const),
      target: fc.option(fc.constantFrom(0.3, 0.5, 0.7, 0.9, 1), { nil: undefined }),
      pinned: fc.constantFrom(undefined, isPinned),
    }),
  )
  .filter(([limit, { target }]) => !("maxTokens" in limit && target === 1))
  .map(
    ([limit, rest]): WindowOptions<ModelMessageLike> => ({ counter: characterCounter, ...limit, ...rest }),
  );

type Fate = "fine" | "throws" | "nothing" | "long";
const fates: fc.Arbitrary<Fate[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant<Fate>("fine") },
    { weight: 1, arbitrary: fc.constantFrom<Fate>("throws", "nothing", "long") },
  ),
  { maxLength: 12 },
);
const events = fc.array(conversationEvent, { minLength: 8, maxLength: 30 });
const spoken = (message: ModelMessageLike): boolean =>
  message.role === "user" || message.role === "assistant";
/** Results may be left out of what the model was shown, or be made up: the rest must be told of without fault. */
const isNoResult = (text: string): boolean => !text.startsWith('[{"type":"tool-result"');

describe("whatever is said, in every window, with a summarizer that fails now and then", () => {
  test("views fit, nothing is lost, one summary at most, after the system message, for exactly what left in its change", async () => {
    let summaries = 0;
    await fc.assert(
      fc.asyncProperty(
        windows,
        events,
        fates,
        fc.boolean(),
        async (window, conversation, fate, systemFirst) => {
          const ledger = new Ledger();
          const store = audited(inMemoryStore(), ledger, isNoResult);
          const fated = [...fate];
          const reported: MemoryEvent[] = [];
          let asked = 0;
          const memory = createChatMemory<ModelMessageLike>({
            id: "m",
            store,
            systemFirst,
            window: {
              ...window,
              summarize: (evicted, context) => {
                asked++;
                expect(context.maxTokens).toBeGreaterThan(0);
                const next = fated.shift() ?? "fine";
                if (next === "throws") throw new Error("no");
                if (next === "nothing") return undefined;
                if (next === "long") return user("x".repeat((context.maxTokens ?? 0) + 1));
                return ledger.summarize(evicted, context);
              },
            },
            onEvent: besideChanges(reported),
          });
          const said: ModelMessageLike[] = [];
          const folded = new Set<string>();
          for (const [index, next] of conversation.entries()) {
            const message = messageOf(next, index);
            const repeats =
              message.role === "system" &&
              textOf(said.findLast(({ role }) => role === "system") ?? user("")) === textOf(message);
            reported.length = 0;
            asked = 0;
            await memory.add(message);
            if (!repeats) said.push(message);

            const history = (await memory.history({ limit: 1000 })).messages;
            expect(history.map((entry) => entry.message)).toEqual(said);
            expect(store.faults).toEqual([]);

            // Each question has one answer, and what left is what the events say.
            const results = reported.filter((event) => event.type.startsWith("summarize"));
            expect(results.length).toBeGreaterThanOrEqual(asked);
            for (const event of reported) {
              if (event.type === "summarized") for (const id of event.messageIds) folded.add(id);
              if (event.type === "evicted")
                for (const id of event.messageIds)
                  expect(history.find((entry) => entry.id === id)?.state).toBe("evicted");
            }

            const live = (await store.getMessages("m")).messages;
            const derived = live.filter(({ meta }) => meta?.includes("derived"));
            expect(derived.length).toBeLessThanOrEqual(1);
            const view = await memory.messages().catch((error: unknown) => {
              if (isTurnkeepError(error, "WINDOW_OVERFLOW")) return undefined;
              throw error;
            });
            if (view === undefined) {
              // What may not leave is too much, and a summary is no part of that.
              expect(derived).toEqual([]);
              continue;
            }
            expect(view.length).toBeLessThanOrEqual((window.maxMessages as number | undefined) ?? 1000);
            const tokens = view.reduce((sum, shown) => sum + characterCounter.count(shown, format), 2);
            const reserve = (window.reserve as number | undefined) ?? 0;
            expect(tokens + reserve).toBeLessThanOrEqual(
              (window.maxTokens as number | undefined) ?? 1_000_000,
            );
            expect(faultsOf(view)).toEqual([]);
            const place = view.findIndex((shown) => isSummary(textOf(shown)));
            expect(place >= 0).toBe(derived.length === 1);
            const first = systemFirst && view[0]?.role === "system" ? 1 : 0;
            if (place >= 0) expect(place).toBe(first);

            // What is live is shown, but for what stands before the first question.
            const shown = saidIn(view.filter((one) => !isSummary(textOf(one))));
            const liveSaid = saidIn(
              history.filter(({ state }) => state === "live").map((entry) => entry.message),
            );
            expect([...liveSaid].sort()).toEqual(expect.arrayContaining([...shown].sort()));
            if (window.unit === "step") expect(shown).toHaveLength(liveSaid.length);

            // The summary stands for what the events say that summaries stand for.
            if (place >= 0) {
              const stoodFor = ledger.expand([textOf(view[place] as ModelMessageLike)]);
              const byId = history.filter((entry) => folded.has(entry.id) && spoken(entry.message));
              expect(byId.flatMap((entry) => partsIn(textOf(entry.message)))).toEqual(
                expect.arrayContaining(stoodFor.filter(isNoResult).flatMap(partsIn)),
              );
            }
          }
          summaries += store.summaries.length;
        },
      ),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 60) },
    );
    expect(summaries).toBeGreaterThan(20);
  });

  test("if it never fails, the model is shown everything that was said, or what stands for it", async () => {
    const question = fc.record({
      kind: fc.constantFrom("user" as const, "assistant" as const),
      length: fc.integer({ min: 4, max: 20 }),
    });
    const roomy = fc.oneof(
      fc.record({ maxMessages: fc.integer({ min: 3, max: 14 }) }),
      fc.record({ maxTokens: fc.integer({ min: 120, max: 400 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        roomy,
        fc.constantFrom("step" as const, "turn" as const),
        fc.constantFrom(0.3, 0.5, 0.7, 0.9),
        fc.array(question, { minLength: 1, maxLength: 60 }),
        async (limit, unit, target, conversation) => {
          const ledger = new Ledger();
          let failed = false;
          const memory = createChatMemory<ModelMessageLike>({
            window: { ...limit, unit, target, counter: characterCounter, summarize: ledger.summarize },
            onEvent: ({ type }) => {
              failed ||= type === "summarize-failed";
            },
          });
          const said = [user("first question"), ...conversation.map(messageOf)];
          for (const message of said) await memory.add(message);
          // Now and then a newest turn that just fits leaves less room than any summary takes.
          fc.pre(!failed);
          const shown = (await memory.messages()).map(textOf);
          expect(ledger.expand(shown).sort()).toEqual(said.map(textOf).sort());
          expect(shown.at(-1)).toBe(textOf(said.at(-1) as ModelMessageLike));
        },
      ),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 100) },
    );
  });
});
