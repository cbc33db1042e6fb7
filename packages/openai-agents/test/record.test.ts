import { type AgentInputItem, MemorySession } from "@openai/agents-core";
import { type ChatMemories, createChatMemories, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TurnkeepSession } from "../src/index.ts";
import { memoriesOf, sessionOf } from "./agents.ts";

const says = (content: string): AgentInputItem => ({ role: "user", content });
const call = (callId: string, city = "Oslo"): Extract<AgentInputItem, { type: "function_call" }> => ({
  type: "function_call",
  callId,
  name: "weather",
  arguments: JSON.stringify({ city }),
});

const codeOf = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.then(
    () => "no error",
    (error: unknown) => error,
  );
  return isTurnkeepError(error) ? error.code : error;
};

describe("a session", () => {
  it("has the id that it was made with", async () => {
    expect(await sessionOf(memoriesOf(), "chat-7").getSessionId()).toBe("chat-7");
  });

  it("is empty, then holds what was added, in order, and hands out copies", async () => {
    const session = sessionOf();
    expect(await session.getItems()).toEqual([]);
    await session.addItems([]);
    const items = [says("One"), call("1"), says("Two")];
    await session.addItems(items);
    const [first] = await session.getItems();
    (first as { content: string }).content = "changed";
    expect(await session.getItems()).toEqual(items);
  });

  it.each([
    [1, ["c"]],
    [2, ["b", "c"]],
    [9, ["a", "b", "c"]],
    [0, []],
    [-1, []],
  ])("answers the newest %i, oldest first", async (limit, wanted) => {
    const session = sessionOf();
    await session.addItems(["a", "b", "c"].map(says));
    expect(await session.getItems(limit)).toEqual(wanted.map(says));
  });

  it("is a record, whatever the window shows", async () => {
    const session = sessionOf(memoriesOf({ maxMessages: 3 }));
    const items = Array.from({ length: 1200 }, (_, n) => says(`${n}`));
    await session.addItems(items);
    expect(await session.getItems()).toEqual(items);
    expect(await session.getItems(1100)).toEqual(items.slice(100));
    expect(await session.memory.messages()).toHaveLength(3);
  });

  it("takes back the newest item, also one that has left the window", async () => {
    const session = sessionOf(memoriesOf({ maxMessages: 1 }));
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([says("One"), says("Two")]);
    expect(await session.popItem()).toEqual(says("Two"));
    expect(await session.popItem()).toEqual(says("One"));
    expect(await session.popItem()).toBeUndefined();
    expect(await session.getItems()).toEqual([]);
  });

  it("takes each item back once, when two do at the same time", async () => {
    const memories = memoriesOf();
    await sessionOf(memories).addItems(["a", "b", "c", "d"].map(says));
    const popped = await Promise.all(["1", "2", "3"].map(() => sessionOf(memories).popItem()));
    expect(new Set(popped.map((item) => JSON.stringify(item))).size).toBe(3);
    expect(await sessionOf(memories).getItems()).toEqual([says("a")]);
  });

  it("is cleared with all that was ever said", async () => {
    const session = sessionOf();
    await session.addItems([says("One")]);
    await session.clearSession();
    expect(await session.getItems()).toEqual([]);
    expect((await session.memory.history()).messages).toEqual([]);
    await session.addItems([says("Two")]);
    expect(await session.getItems()).toEqual([says("Two")]);
  });

  it("adds all or none", async () => {
    const session = sessionOf();
    const bad = { type: "function_call", callId: "", name: "x", arguments: "{}" } as const;
    expect(await codeOf(session.addItems([says("One"), bad]))).toBe("INVALID_MESSAGE");
    expect(await session.getItems()).toEqual([]);
  });

  it("stores what the application adds, even twice", async () => {
    const session = sessionOf();
    await session.addItems([says("One")]);
    await session.addItems([says("One")]);
    expect(await session.getItems()).toHaveLength(2);
  });
});

describe("who may", () => {
  it("refuses another owner before anything is read or stored, in every call", async () => {
    const memories = memoriesOf();
    const ann = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "ann" });
    await ann.addItems([says("Hello")]);
    const bob = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "bob" });
    const modelData = { input: [says("Mine")] };
    for (const work of [
      () => bob.getItems(),
      () => bob.addItems([says("Mine")]),
      () => bob.popItem(),
      () => bob.clearSession(),
      () => bob.replaceHistoryWithCompaction([{ type: "compaction", encrypted_content: "x" }]),
      () =>
        bob.applyHistoryMutations({
          mutations: [{ type: "replace_function_call", callId: "1", replacement: call("1") }],
        }),
      () =>
        bob.applyHistoryTransaction({
          operationId: "1",
          transaction: { type: "append_items", items: [says("Mine")] },
        }),
      async () => bob.modelInput({ modelData, agent: {} as never, context: undefined }),
    ]) {
      expect(await codeOf(work())).toBe("OWNER_MISMATCH");
    }
    expect(await ann.getItems()).toEqual([says("Hello")]);
    const forgotten = { memories, sessionId: "chat-1", owner: undefined as never };
    expect(() => new TurnkeepSession(forgotten)).toThrow(/owner/);
  });

  it("refuses memories of another format", () => {
    const memories = createChatMemories({ store: inMemoryStore() }) as unknown as ChatMemories<never>;
    expect(() => new TurnkeepSession({ memories, sessionId: "chat-1" })).toThrow(/agentsFormat/);
  });
});

describe("a compaction", () => {
  const compaction: AgentInputItem = { type: "compaction", encrypted_content: "gAAAA" };

  it("takes the place of everything, also of what has left the window", async () => {
    const session = sessionOf(memoriesOf({ maxMessages: 2 }));
    await session.addItems(["a", "b", "c", "d"].map(says));
    await session.replaceHistoryWithCompaction([compaction, says("d")]);
    expect(await session.getItems()).toEqual([compaction, says("d")]);
    expect(await session.memory.messages()).toEqual([compaction, says("d")]);
  });

  it("leaves what others have said since the run has read", async () => {
    const memories = memoriesOf();
    const session = sessionOf(memories);
    const { RunContext } = await import("@openai/agents-core");
    const context = new RunContext();
    await session.addItems([says("a")]);
    await session.getItems(undefined, context);
    await sessionOf(memories).addItems([says("other")]);
    await session.replaceHistoryWithCompaction([compaction], context);
    expect(await session.getItems()).toEqual([compaction, says("other")]);
  });
});

describe("a mutation", () => {
  it("replaces a call in its place, and drops others with its id", async () => {
    const [session, theirs] = [sessionOf(), new MemorySession()];
    const mutations = [
      { type: "replace_function_call", callId: "1", replacement: call("1", "Bergen") },
      { type: "replace_function_call", callId: "unknown", replacement: call("9") },
    ] as const;
    for (const each of [session, theirs]) {
      await each.addItems([call("1"), says("a"), call("1"), call("2")]);
      await each.applyHistoryMutations({ mutations: [] });
      await each.applyHistoryMutations({ mutations: [...mutations] });
    }
    expect(await session.getItems()).toEqual([call("1", "Bergen"), says("a"), call("2")]);
    expect(await theirs.getItems()).toEqual(await session.getItems());
  });

  it("reaches a call that has left the window", async () => {
    const session = sessionOf(memoriesOf({ maxMessages: 2 }));
    await session.addItems([call("1"), ...["a", "b", "c"].map(says)]);
    const mutation = {
      type: "replace_function_call",
      callId: "1",
      replacement: call("1", "Bergen"),
    } as const;
    const shown = await session.memory.messages();
    await session.applyHistoryMutations({ mutations: [mutation] });
    expect(await session.getItems()).toEqual([call("1", "Bergen"), ...["a", "b", "c"].map(says)]);
    expect(await session.memory.messages()).toEqual(shown);
    const { messages } = await session.memory.history({ states: ["superseded"] });
    expect(messages).toEqual([]);
  });
});

describe("an operation", () => {
  const append = (...texts: string[]) => ({ type: "append_items", items: texts.map(says) }) as const;
  const replace = (before: string[], after: string[]) =>
    ({ type: "replace_suffix", expectedSuffix: before.map(says), replacement: after.map(says) }) as const;

  it("is applied once, whoever repeats it, also after its items were taken back", async () => {
    const memories = memoriesOf({ maxMessages: 2 });
    await sessionOf(memories).addItems(["a", "b", "c"].map(says));
    for (let n = 0; n < 3; n++) {
      await sessionOf(memories).applyHistoryTransaction({
        operationId: "op-1",
        transaction: append("d", "e"),
      });
    }
    expect(await sessionOf(memories).getItems()).toEqual(["a", "b", "c", "d", "e"].map(says));
    await sessionOf(memories).popItem();
    await sessionOf(memories).applyHistoryTransaction({ operationId: "op-1", transaction: append("d", "e") });
    expect(await sessionOf(memories).getItems()).toEqual(["a", "b", "c", "d"].map(says));
  });

  it("is applied once by many at the same time", async () => {
    const memories = memoriesOf();
    await sessionOf(memories).addItems([says("a")]);
    const operation = { operationId: "op-1", transaction: replace(["a"], ["b", "c"]) };
    await Promise.all(
      Array.from({ length: 4 }, () => sessionOf(memories).applyHistoryTransaction(operation)),
    );
    expect(await sessionOf(memories).getItems()).toEqual(["b", "c"].map(says));
  });

  it("is no other under the same id, and changes nothing where the suffix is another", async () => {
    const session = sessionOf();
    await session.addItems(["a", "b"].map(says));
    const apply = (operationId: string, transaction: ReturnType<typeof append | typeof replace>) =>
      codeOf(session.applyHistoryTransaction({ operationId, transaction }));
    expect(await apply("op-1", append())).toBe("no error");
    expect(await apply("op-1", append("c"))).toBe("ID_CONFLICT");
    expect(await apply("op-2", replace(["x", "b"], ["c"]))).toBe("VERSION_CONFLICT");
    expect(await apply("op-2", replace(["x", "a", "b"], ["c"]))).toBe("VERSION_CONFLICT");
    expect(await apply(" ", append("c"))).toBe("INVALID_OPTION");
    expect(await apply("op-3", { type: "other" } as never)).toBe("INVALID_OPTION");
    expect(await session.getItems()).toEqual(["a", "b"].map(says));
    expect(await apply("op-2", replace(["b"], ["c"]))).toBe("no error");
    expect(await session.getItems()).toEqual(["a", "c"].map(says));
  });

  it("is shown to nobody", async () => {
    const session = sessionOf();
    await session.applyHistoryTransaction({ operationId: "op-1", transaction: append("a") });
    expect(await session.memory.messages()).toEqual([says("a")]);
    expect(await session.popItem()).toEqual(says("a"));
  });
});

it("is what a plain list would be, whatever is called in whatever order, over a small window", async () => {
  const text = fc.constantFrom("a", "b", "c");
  const command = fc.oneof(
    fc.record({ name: fc.constant("add" as const), texts: fc.array(text, { maxLength: 4 }) }),
    fc.record({ name: fc.constant("pop" as const) }),
    fc.record({ name: fc.constant("call" as const), id: text }),
    fc.record({ name: fc.constant("mutate" as const), id: text, city: text }),
    fc.record({
      name: fc.constant("operate" as const),
      id: text,
      cut: fc.nat(2),
      texts: fc.array(text, { maxLength: 2 }),
    }),
    fc.record({ name: fc.constant("read" as const), limit: fc.integer({ min: -1, max: 6 }) }),
    fc.record({ name: fc.constant("clear" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 15 }), async (commands) => {
      const memories = memoriesOf({ maxMessages: 3 });
      const theirs = new MemorySession();
      for (const given of commands) {
        const ours = sessionOf(memories);
        for (const session of [theirs, ours]) {
          switch (given.name) {
            case "add":
              await session.addItems(given.texts.map(says));
              break;
            case "call":
              await session.addItems([call(given.id)]);
              break;
            case "mutate": {
              const replacement = call(given.id, given.city);
              const mutation = { type: "replace_function_call", callId: given.id, replacement } as const;
              await session.applyHistoryMutations({ mutations: [mutation] });
              break;
            }
            case "clear":
              await session.clearSession();
              break;
          }
        }
        if (given.name === "pop") expect(await ours.popItem()).toEqual(await theirs.popItem());
        if (given.name === "read")
          expect(await ours.getItems(given.limit)).toEqual(await theirs.getItems(given.limit));
        if (given.name === "operate") {
          const expectedSuffix = given.cut === 0 ? [] : await theirs.getItems(given.cut);
          const transaction = {
            type: "replace_suffix",
            expectedSuffix,
            replacement: given.texts.map(says),
          } as const;
          const outcome = (session: MemorySession | TurnkeepSession) =>
            session.applyHistoryTransaction({ operationId: given.id, transaction }).then(
              () => true,
              () => false,
            );
          expect(await outcome(ours)).toBe(await outcome(theirs));
        }
        expect(await ours.getItems()).toEqual(await theirs.getItems());
      }
    }),
    { numRuns: 30 },
  );
});
