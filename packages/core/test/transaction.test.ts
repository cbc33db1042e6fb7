import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  entry,
  inMemoryStore,
  type MemoryTransaction,
  type ModelMessage,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";

type Memory = ChatMemory<ModelMessage>;

const message = (id: string) => entry(user(id), { id });
const texts = async (memory: Pick<Memory, "messages">): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

/** Two instances of one memory of three messages. */
async function setUp(): Promise<{ readonly ours: Memory; readonly theirs: Memory }> {
  const store = inMemoryStore();
  const [ours, theirs] = [createChatMemory({ id: "m", store }), createChatMemory({ id: "m", store })];
  await ours.add(message("a"), message("b"), message("c"));
  return { ours, theirs };
}

describe("a transaction", () => {
  test("shows what it has collected, and nobody else sees it before it is whole", async () => {
    const { ours, theirs } = await setUp();
    await ours.transaction(async (edit) => {
      edit.rewind("b");
      expect(await texts(edit)).toEqual(["a"]);
      const [id] = edit.add(user("d"));
      edit.put("a", user("A"));
      expect(await texts(edit)).toEqual(["A", "d"]);
      expect((await edit.entries()).map((each) => [each.id, each.seq])).toEqual([
        ["a", 1],
        [id, 4],
      ]);
      expect(await texts(theirs)).toEqual(["a", "b", "c"]);
    });
    expect(await texts(theirs)).toEqual(["A", "d"]);
  });

  test("that fails has changed nothing, whichever of its changes cannot be made", async () => {
    const { ours } = await setUp();
    const failing: [string, (edit: MemoryTransaction<ModelMessage>) => unknown][] = [
      ["NOT_FOUND", (edit) => edit.rewind("unknown")],
      ["NOT_FOUND", (edit) => edit.put("unknown", user("x"), { mustExist: true })],
      ["VERSION_CONFLICT", (edit) => edit.put("b", user("x"), { replaces: user("other") })],
      ["ID_CONFLICT", (edit) => edit.add(entry(user("x"), { id: "b" }))],
      ["NOT_FOUND", (edit) => edit.compact({ through: "unknown", replacement: user("x") })],
    ];
    for (const [code, change] of failing) {
      const run = (edit: MemoryTransaction<ModelMessage>): void => {
        edit.add(user("first"));
        edit.remove("a");
        change(edit);
      };
      await expect(ours.transaction(run)).rejects.toMatchObject({ code });
      const shown = ours.transaction((edit) => {
        run(edit);
        return edit.messages();
      });
      await expect(shown).rejects.toMatchObject({ code });
    }
    expect(await texts(ours)).toEqual(["a", "b", "c"]);
  });

  test("frees the id of what it removes, and not of what it takes back", async () => {
    const { ours } = await setUp();
    await ours.transaction((edit) => {
      edit.remove("b");
      edit.put("b", user("again"));
    });
    expect(await texts(ours)).toEqual(["a", "c", "again"]);
    const taken = ours.transaction((edit) => {
      edit.rewind("b");
      edit.put("b", user("once more"));
    });
    await expect(taken).rejects.toMatchObject({ code: "ID_CONFLICT" });
  });

  test.each(["call", "result"])("removes the whole step that it evicted, found by its %s", async (id) => {
    const store = inMemoryStore();
    const short: ChatMemoryStore = {
      ...store,
      // A page ends at each message that the transaction has moved.
      getHistory: (memoryId, query, options) =>
        store.getHistory(memoryId, query.ids ? query : { ...query, limit: 1 }, options),
    };
    const memory = createChatMemory({ id: "m", store: short, window: { maxMessages: 4 } });
    const [call, result] = [toolCall("c", "t", {}), toolResult("c", "t", "done")];
    await memory.add(
      message("a"),
      entry(call, { id: "call" }),
      entry(result, { id: "result" }),
      message("b"),
    );
    await memory.transaction((edit) => {
      edit.add(message("d"), message("e"), message("f"));
      edit.remove(id);
    });
    const { messages } = await store.getHistory("m", {});
    expect(messages.map((kept) => [kept.id, kept.state])).toEqual([
      ["a", "evicted"],
      ["b", "live"],
      ["d", "live"],
      ["e", "live"],
      ["f", "live"],
    ]);
  });

  test("binds a put to what is there after the changes before it", async () => {
    const { ours } = await setUp();
    const mustExist = await ours.anchor("b");
    await ours.transaction((edit) => edit.put("b", user("B"), { mustExist }));
    const bound = ours.transaction((edit) => {
      edit.rewind("b");
      edit.put("d", user("x"), { mustExist });
    });
    await expect(bound).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await texts(ours)).toEqual(["a", "B", "c"]);
  });

  test("replaces what its rewind brings back from history", async () => {
    const memory = createChatMemory({ window: { maxMessages: 2 } });
    await memory.add(message("a"), message("b"));
    await memory.add(message("c"));
    await memory.transaction((edit) => {
      edit.rewind("c");
      edit.put("a", user("A"));
    });
    expect(await texts(memory)).toEqual(["A", "b"]);
  });

  test("cannot replace what its restore brings back, live or not", async () => {
    for (const id of ["b", "c"]) {
      const memory = createChatMemory({ window: { maxMessages: 1 } });
      await memory.add(message("a"), message("b"), message("c"));
      await memory.rewind("b");
      const put = memory.transaction((edit) => {
        edit.restore("c");
        edit.put(id, user("other"));
      });
      await expect(put).rejects.toMatchObject({ code: "UNSUPPORTED", details: { messageIds: [id] } });
      expect(await texts(memory)).toEqual(["a"]);
    }
  });

  test("takes no option that is the transaction's own, and nothing but ids", async () => {
    const { ours } = await setUp();
    const wrong: ((edit: MemoryTransaction<ModelMessage>) => unknown)[] = [
      (edit) => edit.put("a", user("x"), { signal: AbortSignal.abort() } as never),
      (edit) => edit.remove("a", { onConflict: "throw" } as never),
      (edit) => edit.remove(5 as never),
      (edit) => edit.rewind(user("a") as never),
      (edit) => edit.set([]),
      (edit) => edit.compact({ through: "a", replacement: user("x"), signal: 1 } as never),
    ];
    for (const run of wrong)
      await expect(ours.transaction(run)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("that has ended takes no change of any kind", async () => {
    const { ours } = await setUp();
    const [ended] = await ours.transaction((edit) => [edit]);
    const late: (() => unknown)[] = [
      () => ended.add(user("x")),
      () => ended.instruct({ role: "system", content: "x" }),
      () => ended.put("a", user("x")),
      () => ended.remove("a"),
      () => ended.rewind("a"),
      () => ended.compact({ through: "a", replacement: user("x") }),
      () => ended.set([user("x")]),
    ];
    for (const change of late) expect(change).toThrowError(expect.objectContaining({ code: "CLOSED" }));
    await expect(ended.entries()).rejects.toMatchObject({ code: "CLOSED" });
    expect(await texts(ours)).toEqual(["a", "b", "c"]);
  });
});

describe("a set in a transaction goes by what its instance last looked at", () => {
  const replacing = (edit: MemoryTransaction<ModelMessage>): void => {
    edit.set([user("new")]);
    edit.add(assistant("ok"));
  };

  test("so what others wrote since then is a conflict", async () => {
    const { ours, theirs } = await setUp();
    await ours.messages();
    await theirs.add(user("d"));
    await expect(ours.transaction(replacing)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await ours.messages();
    await ours.transaction(replacing);
    expect(await texts(theirs)).toEqual(["new", "ok"]);
  });

  test('unless it is to replace whatever is there ("merge")', async () => {
    const { ours, theirs } = await setUp();
    await ours.messages();
    await theirs.add(user("d"));
    await ours.transaction(replacing, { onConflict: "merge" });
    expect(await texts(theirs)).toEqual(["new", "ok"]);
  });
});
