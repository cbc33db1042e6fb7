import type { CallOptions, ChatMemoryStore, MemoryUpdate } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { everyCall } from "../support/calls.ts";
import { expectCode, expectEqual, expectSecret, expectSettled, expectThat } from "../support/expect.ts";
import { largeUpdate } from "../support/large.ts";
import { expectUnlisted } from "../support/listed.ts";
import type { TestMemory } from "../support/memory.ts";
import { abortLater } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

export const errorsCases: readonly ConformanceCase[] = inGroup("errors", [
  {
    name: "an update that is not as described is refused",
    sentence: sentences.invalid,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3 });
      for (const [what, over] of badUpdates(memory)) {
        const update = { ...memory.update({ append: 2 }), ...over } as MemoryUpdate;
        await memory.refused(`an update with ${what}`, "INVALID_OPTION", update);
        await memory.check(`after an update with ${what}`);
      }
    },
  },
  {
    name: "a beginning that is not as described begins nothing",
    sentence: sentences.invalid,
    async run(context) {
      const memory = context.memory();
      const owner = context.unique();
      const update = memory.update({ append: 2, nextSeq: 2, owner });
      await memory.refused("a beginning with a seq that reaches nextSeq", "INVALID_OPTION", update);
      await memory.check("after a beginning that was refused");
      await expectUnlisted("after a beginning that was refused", context.store, owner, memory);
    },
  },
  {
    name: "no error tells a message's content",
    sentence: sentences.errors,
    async run(context) {
      const { store } = context;
      const memory = context.memory();
      const secret = `secret-${context.unique()}`;
      await memory.commit({ append: [{ payload: `"${secret}"` }], head: `"${secret}"` });
      const say = (over: object) => [{ payload: `"${secret}"`, meta: `"${secret}"`, ...over }];
      const head = `"${secret}"`;
      const calls: MemoryUpdate[] = [
        { ...memory.update({ append: say({}), head }), expected: context.unique() },
        memory.update({ append: say({ createdAt: Number.NaN }), head }),
        memory.update({ append: say({ payload: `"${secret}\ud800"` }), head }),
        memory.update({ append: say({ meta: `"${secret}\u0000"` }), head }),
        memory.update({ append: say({}), head: `"${secret}${" ".repeat(17_000)}"` }),
        memory.update({ append: [...say({ id: "same" }), ...say({ id: "same" })], head }),
      ];
      if (context.capabilities.maxMessageBytes <= 64 * 1024 * 1024) {
        const payload = `"${secret}${" ".repeat(context.capabilities.maxMessageBytes)}"`;
        calls.push(memory.update({ append: say({ payload }), head }));
      }
      for (const update of calls) {
        const [result] = await Promise.allSettled([store.updateMessages(memory.id, update)]);
        const error: unknown = result?.status === "rejected" ? result.reason : undefined;
        expectThat("a bad update fails with an error of Turnkeep", isTurnkeepError(error), error);
        expectSecret(`an error of code ${error.code}`, error, secret);
      }
    },
  },
  {
    name: "an error is an Error with a code and a message",
    sentence: sentences.errors,
    async run(context) {
      const memory = context.memory();
      const update = { ...memory.update({ append: 1 }), expected: context.unique() };
      const errors = [
        await memory.refused("a conflict", "VERSION_CONFLICT", update),
        await expectCode("a bad id", "INVALID_OPTION", () => context.store.getMessages("")),
      ];
      for (const error of errors) {
        expectThat("an error is an instance of Error", error instanceof Error, error);
        expectEqual("the name of an error", error.name, "TurnkeepError");
        expectThat("an error has a message", error.message.length > 0, error.message);
      }
    },
  },
  {
    name: "what stands in the way of a call is said in one order",
    sentence: sentences.checks,
    async run(context) {
      const { store, capabilities } = context;
      const memory = context.memory();
      await memory.commit({ append: 1 });
      const fired = { signal: AbortSignal.abort() };
      const closed = await context.create();
      await closed.close();
      for (const [method, call] of wrongCalls(closed, "", memory, fired)) {
        await expectCode(`${method} after close, with all else wrong`, "CLOSED", call);
      }
      for (const [method, call] of wrongCalls(store, "", memory, fired)) {
        await expectCode(`${method} with a signal that has fired, and all else wrong`, "ABORTED", call);
      }
      // Whether the store can serve the method, and at which version the memory is, comes after its arguments.
      for (const [method, call] of wrongCalls(store, memory.id, memory, {})) {
        await expectCode(`${method} with wrong arguments`, "INVALID_OPTION", call);
      }
      if (capabilities.maxMessageBytes <= 64 * 1024 * 1024) {
        const payload = `"${" ".repeat(capabilities.maxMessageBytes)}"`;
        const tooLarge = memory.update({ append: [{ payload }] });
        const call = () => store.updateMessages("", tooLarge);
        await expectCode("a message that is too large, for a wrong id", "INVALID_OPTION", call);
      }
      await memory.check("after calls that were refused");
    },
  },
  {
    name: "a signal that has fired ends every call",
    sentence: sentences.signal,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 2 });
      for (const [why, reason] of abortReasons) {
        const options = { signal: AbortSignal.abort(reason) };
        const update = memory.update({ append: 1 });
        for (const [method, call] of everyCall(context.store, memory.id, update, options)) {
          await expectCode(`${method} with a signal that has fired with ${why}`, "ABORTED", call);
        }
      }
      await memory.check("after calls with a signal that has fired");
    },
  },
  {
    name: "a signal that fires during an update leaves all of it or none",
    sentence: sentences.signal,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4, head: "0" });
      for (let round = 1; round <= 24; round++) {
        const [oldest = 0] = memory.model.seqs("live");
        const update = memory.update({ append: 2, move: [{ seq: oldest, to: "evicted" }], head: `${round}` });
        await abort("an update", context, memory, round, update);
        await memory.check("after a signal fired during an update", context.other);
      }
    },
  },
  {
    name: "a signal that fires during a large update leaves all of it or none",
    sentence: sentences.signal,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 200, head: "0" });
      for (let round = 1; round <= 10; round++) {
        const update = largeUpdate(memory, `round ${round}`);
        await abort("a large update", context, memory, round, update);
        await memory.check("after a signal fired during a large update", context.other);
      }
    },
  },
  {
    name: "a signal that fires during a read ends it or not",
    sentence: sentences.signal,
    async run(context) {
      const { store } = context;
      const memory = context.memory();
      await memory.commit({ append: 50 });
      for (let round = 0; round < 16; round++) {
        const controller = new AbortController();
        const { signal } = controller;
        const reads = [store.getMessages(memory.id, { signal })];
        if (context.capabilities.history) reads.push(store.getHistory(memory.id, {}, { signal }) as never);
        const lists: Promise<unknown>[] = [store.sweep({ signal })];
        if (context.capabilities.list) lists.push(store.listMemories({ limit: 10 }, { signal }));
        const beside = [
          store.getMessages(memory.id),
          ...(reads.length > 1 ? [store.getHistory(memory.id, {})] : []),
        ];
        const settling = Promise.allSettled([...reads, ...beside, abortLater(controller, round)]);
        for (const result of await Promise.allSettled(lists))
          expectSettled("a sweep or a listing whose signal fires", result, "ABORTED");
        const settled = await settling;
        for (const [index, result] of settled.entries()) {
          if (index < reads.length) expectSettled("a read whose signal fires", result, "ABORTED");
          else expectSettled("a read beside one whose signal fires", result);
        }
        await memory.check("after a signal fired during a read");
      }
    },
  },
  {
    name: "a signal that does not fire changes nothing",
    sentence: sentences.signal,
    async run(context) {
      const { store, capabilities } = context;
      const memory = context.memory();
      const { signal } = new AbortController();
      const update = memory.update({ append: 2, owner: context.unique() });
      await store.updateMessages(memory.id, update, { signal });
      memory.model.apply(update);
      await store.getMessages(memory.id, { signal });
      if (capabilities.history) await store.getHistory(memory.id, {}, { signal });
      if (capabilities.list) await store.listMemories({ limit: 1 }, { signal: undefined });
      await store.sweep({ signal });
      await memory.check("after calls with a signal that does not fire");
    },
  },
]);

/** The calls that take arguments, each with wrong ones, whether the store can serve it or not. */
function wrongCalls(
  store: ChatMemoryStore,
  memoryId: string,
  memory: TestMemory,
  options: CallOptions,
): readonly (readonly [method: string, call: () => Promise<unknown>])[] {
  const update = { ...memory.update({ append: 1 }), expected: "another version", nextSeq: 0 };
  const byArguments = [
    ["updateMessages", () => store.updateMessages(memoryId, update, options)],
    ["deleteMessages", () => store.deleteMessages(memoryId, { ...options, expected: "" })],
    ["getHistory", () => store.getHistory(memoryId, { limit: 0 }, options)],
    ["listMemories", () => store.listMemories({ limit: 0 }, options)],
  ] as const;
  if (memoryId !== "") return byArguments;
  return [...byArguments, ["getMessages", () => store.getMessages(memoryId, options)]];
}

/** What a signal may fire with: the platform's own reasons, and a caller's. */
const abortReasons: readonly (readonly [why: string, reason: unknown])[] = [
  ["no reason of its own", undefined],
  ["a timeout", new DOMException("The operation was aborted due to timeout", "TimeoutError")],
  ["an error of the caller's", new Error("the user left")],
  ["a text", "the user left"],
];

/**
 * Sends an update whose signal fires meanwhile, and finds out whether it took place. Where it was given up it may still
 * be under way, so a commit from the version in place decides: either it succeeds, and the other never can, or it meets
 * the other.
 */
async function abort(
  what: string,
  { store }: ConformanceContext,
  memory: TestMemory,
  round: number,
  update: MemoryUpdate,
): Promise<void> {
  const controller = new AbortController();
  const running = store.updateMessages(memory.id, update, { signal: controller.signal });
  const [result] = await Promise.allSettled([running, abortLater(controller, round)]);
  if (expectSettled(`${what} whose signal fires`, result, "ABORTED")) {
    memory.model.apply(update);
    return;
  }
  const { version } = await store.getMessages(memory.id);
  if (version === update.version) {
    memory.model.apply(update);
    return;
  }
  try {
    await memory.commit();
  } catch (error) {
    if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    memory.model.apply(update);
  }
}

/** Changes of a good update, each of which makes it a bad one. The memory holds seq 1 to 3; the update appends 4 and 5. */
function badUpdates(memory: TestMemory): readonly (readonly [what: string, over: object])[] {
  const [four, five] = [memory.message(4), memory.message(5)];
  return [
    ["an empty version", { version: "" }],
    ["a version with U+0000", { version: "a\u0000" }],
    ["a version that is the expected one", { version: memory.model.version }],
    ["an empty expected version", { expected: "" }],
    ["no expected version", { expected: undefined }],
    ["nextSeq 0", { nextSeq: 0 }],
    ["a nextSeq that is no whole number", { nextSeq: 6.5 }],
    ["a nextSeq that a message reaches", { nextSeq: 5 }],
    ["an append that does not ascend", { append: [five, four] }],
    ["one seq twice", { append: [four, { ...five, seq: 4 }] }],
    ["one message id twice", { append: [four, { ...five, id: four.id }] }],
    ["seq 0", { append: [{ ...four, seq: 0 }] }],
    ["a seq that is no whole number", { append: [{ ...four, seq: 4.5 }] }],
    ["a message both new and replaced", { replace: [memory.message(4)] }],
    [
      "one seq moved twice",
      {
        move: [
          { seq: 1, to: "evicted" },
          { seq: 1, to: "superseded" },
        ],
      },
    ],
    ["a move to nowhere", { move: [{ seq: 1, to: "archived" }] }],
    ["a move of seq 0", { move: [{ seq: 0, to: "evicted" }] }],
    ["a time that is no number", { append: [{ ...four, createdAt: "now" }] }],
    ["a payload that is no text", { append: [{ ...four, payload: { a: 1 } }] }],
    ["a meta that is no text", { append: [{ ...four, meta: 1 }] }],
    ["a head that is no text", { head: { a: 1 } }],
    ["one seq replaced twice", { replace: [memory.message(1), memory.message(1, { payload: '"again"' })] }],
    ["one message id both new and replaced", { replace: [memory.message(1, { id: four.id })] }],
    ["a replacement of seq 0", { replace: [memory.message(0)] }],
    [
      "a replacement of what it calls superseded",
      { replace: [{ ...memory.message(1), state: "superseded" }] },
    ],
    ["a replacement at nextSeq", { replace: [memory.message(6)] }],
    ["a replacement without a time", { replace: [memory.message(1, { createdAt: Number.NaN })] }],
    ["a replacement whose payload is no text", { replace: [{ ...memory.message(1), payload: { a: 1 } }] }],
    ["a replacement whose meta is no text", { replace: [{ ...memory.message(1), meta: 1 }] }],
    ["no append", { append: undefined }],
    ["no replace", { replace: undefined }],
    ["no move", { move: undefined }],
  ];
}
