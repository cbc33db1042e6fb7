import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelMessageLike } from "../src/format/model-message.ts";
import { modelMessageFormat as format } from "../src/format/model-message-format.ts";
import {
  assistant,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  toolResult,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { conversationEvent as event, messageOf } from "./conversations.ts";
import {
  characterCounter,
  faultsOf,
  inViewOrder,
  type ReferenceOptions,
  referenceWindow,
  type Said,
  saidIn,
  stepsOf,
} from "./window-reference.ts";

const limits = fc.oneof(
  fc.record({ maxMessages: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ maxTokens: fc.integer({ min: 30, max: 250 }), reserve: fc.nat(20) }),
  fc.record({
    maxMessages: fc.integer({ min: 1, max: 12 }),
    maxTokens: fc.integer({ min: 30, max: 250 }),
    reserve: fc.nat(20),
  }),
);
const windows = fc
  .tuple(
    limits,
    fc.record({
      unit: fc.constantFrom("step" as const, "turn" as const),
      overflow: fc.constantFrom("throw" as const, "keep" as const, "evict" as const),
      target: fc.option(fc.constantFrom(0.3, 0.5, 0.7, 0.9, 1), { nil: undefined }),
      pins: fc.boolean(),
      systemFirst: fc.boolean(),
    }),
  )
  .map(([limit, { pins, ...rest }]): ReferenceOptions => {
    const isPinned = (message: ModelMessageLike): boolean =>
      message.role === "user" && typeof message.content === "string" && message.content.startsWith("PIN");
    return { ...limit, ...rest, counter: characterCounter, ...(pins ? { pinned: isPinned } : {}) };
  });

const textOf = (message: ModelMessageLike): string => JSON.stringify(message);

/** The reference's own account of a conversation: what an add does to what is live. */
class Account {
  live: Said[] = [];
  #places = 0;
  readonly #options: ReferenceOptions;

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  add(message: ModelMessageLike): void {
    if (message.role === "system") {
      if (this.live.some((said) => textOf(said.message) === textOf(message))) return;
      this.live = this.live.filter((said) => said.message.role !== "system");
    }
    const said = { place: this.#places++, message, late: this.#lateCalls(message) };
    const ordered = inViewOrder([...this.live, said], this.#options.systemFirst ?? true);
    this.live = referenceWindow(ordered, this.#options);
  }

  /** A call is answered late if an assistant message that is no part of its step has come since. */
  #lateCalls(message: ModelMessageLike): string[] {
    return format
      .toolResults(message)
      .map((result) => result.id)
      .filter((id) => {
        const steps = stepsOf([...this.live, { place: -1, message: toolResult(id, "t", ""), late: [] }]);
        const step = steps.find((members) => members.some((said) => said.place === -1)) ?? [];
        const newest = this.live.findLast((said) => said.message.role === "assistant");
        const asks = step.some((said) => format.toolCalls(said.message).some((call) => call.id === id));
        return asks && newest !== undefined && !step.includes(newest);
      });
  }
}

describe("windows of steps and turns", () => {
  test("keep what a naive reference keeps, and show a view that fits and that a provider accepts", async () => {
    await fc.assert(
      fc.asyncProperty(windows, fc.array(event, { minLength: 1, maxLength: 40 }), async (options, events) => {
        const { systemFirst, ...window } = options;
        const store = inMemoryStore();
        const memory = createChatMemory<ModelMessageLike>({ id: "m", store, window, systemFirst });
        const account = new Account(options);
        for (const [index, next] of events.entries()) {
          const message = messageOf(next, index);
          await memory.add(message);
          account.add(message);
          const snapshot = await store.getMessages("m");
          const stored = snapshot.messages.map(({ payload }) => textOf(format.decode(payload)));
          const expected = [...account.live]
            .sort((a, b) => a.place - b.place)
            .map((said) => textOf(said.message));
          expect(stored).toEqual(expected);
          await checkView(memory, window, account.live, systemFirst ?? true);
        }
      }),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 150) },
    );
  });

  async function checkView(
    memory: ReturnType<typeof createChatMemory<ModelMessageLike>>,
    window: WindowOptions<ModelMessageLike>,
    live: readonly Said[],
    systemFirst: boolean,
  ): Promise<void> {
    const view = await memory.messages().catch((error: unknown) => {
      if (isTurnkeepError(error, "WINDOW_OVERFLOW")) return error;
      throw error;
    });
    if (!Array.isArray(view)) {
      // What may not leave is too much: the newest step, the system message, what is pinned.
      expect(window.overflow).not.toBe("keep");
      expect(view.details.needed).toBeGreaterThan(view.details.limit as number);
      return;
    }
    if (window.overflow !== "keep") {
      const tokens = view.reduce((sum, message) => sum + characterCounter.count(message, format), 2);
      expect(view.length).toBeLessThanOrEqual(
        (window.maxMessages as number | undefined) ?? Number.POSITIVE_INFINITY,
      );
      if (window.maxTokens !== undefined) {
        expect(tokens + ((window.reserve as number | undefined) ?? 0)).toBeLessThanOrEqual(
          window.maxTokens as number,
        );
      }
    }
    expect(faultsOf(view)).toEqual([]);
    const systems = live.filter((said) => said.message.role === "system");
    expect(view.filter((message) => message.role === "system")).toEqual(systems.map((said) => said.message));
    if (systemFirst && systems.length > 0) expect(view[0]?.role).toBe("system");
    const pinned = live.filter((said) => window.pinned?.(said.message) === true);
    for (const { message } of pinned) expect(view).toContainEqual(message);
    const said = saidIn(live.map(({ message }) => message));
    const shown = saidIn(view);
    const leading = window.unit === "turn" ? said.length - shown.length : 0;
    expect(shown).toEqual(said.slice(leading));
    if (window.unit === "turn")
      expect(["user", undefined]).toContain(view.find(({ role }) => role !== "system")?.role);
    expect(await memory.messages()).toEqual(view);
  }

  test("the newest message of a conversation without calls is always shown, unless it alone is too large", async () => {
    const question = fc.record({ kind: fc.constantFrom("user" as const), length: fc.nat(12) });
    await fc.assert(
      fc.asyncProperty(
        windows,
        fc.array(question, { minLength: 1, maxLength: 30 }),
        async (options, events) => {
          const { systemFirst, pinned: _, ...window } = options;
          const memory = createChatMemory<ModelMessageLike>({ window, systemFirst });
          for (const [index, next] of events.entries()) {
            const message = messageOf(next, index);
            await memory.add(message);
            const fixed = 2 + ((window.reserve as number | undefined) ?? 0);
            const cost = characterCounter.count(message, format) + fixed;
            const fits = cost <= ((window.maxTokens as number | undefined) ?? Number.POSITIVE_INFINITY);
            if (fits || window.overflow === "keep") expect((await memory.messages()).at(-1)).toEqual(message);
            else if (window.overflow === "evict") expect(await memory.messages()).toEqual([]);
            else await expect(memory.messages()).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
          }
        },
      ),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 150) },
    );
  });

  test("a window that has shrunk shows at the next view, and shows again what it hid when it grows", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 30 }),
        async (events, shrunk) => {
          let limit = 100;
          const memory = createChatMemory<ModelMessageLike>({
            window: { maxMessages: () => limit, overflow: "keep" },
          });
          const account = new Account({ maxMessages: 100, overflow: "keep" });
          for (const [index, next] of events.entries()) {
            await memory.add(messageOf(next, index));
            account.add(messageOf(next, index));
          }
          const whole = await memory.messages();
          limit = shrunk;
          const expected = referenceWindow(account.live, { maxMessages: shrunk, overflow: "keep" });
          const view = await memory.messages();
          expect(saidIn(view)).toEqual(saidIn(expected.map(({ message }) => message)));
          expect(faultsOf(view)).toEqual([]);
          limit = 100;
          expect(await memory.messages()).toEqual(whole);
        },
      ),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 150) },
    );
  });
});

test("an add costs as many calls of counter and format after 2,000 messages as after 50", async () => {
  let calls = 0;
  const counting = new Proxy(format, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        calls++;
        return (member as (...values: unknown[]) => unknown)(...given);
      };
    },
  });
  const counter = {
    ...characterCounter,
    count: <M>(message: M, of: Parameters<typeof characterCounter.count<M>>[1]) => {
      calls++;
      return characterCounter.count(message, of);
    },
  };
  for (const unit of ["step", "turn", "message"] as const) {
    const memory = createChatMemory({
      format: counting,
      id: "m",
      store: inMemoryStore(),
      window: { maxTokens: 400, counter, unit, target: 1 },
    });
    const costs: number[] = [];
    for (let index = 0; index < 2000; index++) {
      calls = 0;
      await memory.add(index % 2 === 0 ? user(`question ${index % 10}`) : assistant(`answer ${index % 10}`));
      await memory.messages();
      costs.push(calls);
    }
    expect(new Set(costs.slice(50)).size, unit).toBe(1);
  }
});
