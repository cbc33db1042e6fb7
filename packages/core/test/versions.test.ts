import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { losing, meeting } from "./meeting-store.ts";
import { formatWith } from "./step-messages.ts";
import { withoutHistory } from "./without-history.ts";

type Memory = ChatMemory<ModelMessage>;
type Policy = Partial<ChatMemoryOptions<ModelMessage>>;

/** Asked long ago, unlike the answers. */
const question = (id: string) => entry(user(id), { id, createdAt: 1 });
const answer = (id: string) => entry(assistant(id), { id });
const shown = async (memory: Memory): Promise<string[]> =>
  (await memory.messages()).map(({ content }) => (typeof content === "string" ? content : "…"));
const ids = async (memory: Memory, id: string): Promise<string[]> =>
  (await memory.versions(id)).map((version) => version.id);
const states = async (memory: Memory): Promise<string> =>
  (await memory.history()).messages.map(({ id, state }) => `${id} ${state}`).join(", ");

async function edit(memory: Memory, from: string, ...messages: Parameters<Memory["add"]>): Promise<void> {
  await memory.transaction((change) => {
    change.rewind(from);
    change.add(...messages);
  });
}

/** Two turns, of which the second was edited: `q2`, `a2` are superseded, `q2'`, `a2'` in their place. */
async function edited(policy: Policy = {}, store = inMemoryStore()): Promise<Memory> {
  const memory = createChatMemory({ id: "m", store, ...policy } as ChatMemoryOptions<ModelMessage>);
  await memory.add(question("q1"), answer("a1"), question("q2"), answer("a2"));
  await edit(memory, "q2", question("q2'"), answer("a2'"));
  return memory;
}

describe("versions", () => {
  test("are the other messages in a place: edited, generated again, set", async () => {
    const memory = await edited();
    expect(await ids(memory, "q2")).toEqual(["q2'"]);
    expect(await memory.versions("q2'")).toMatchObject([
      { id: "q2", seq: 3, parent: 2, state: "superseded", message: { role: "user", content: "q2" } },
    ]);
    await edit(memory, "a2'", answer("a2''"));
    expect(await ids(memory, "a2''")).toEqual(["a2'"]);
    expect(await ids(memory, "a2")).toEqual([]);
    await memory.set([question("new")]);
    expect(await ids(memory, "new")).toEqual(["q1"]);
  });

  test("are told apart by history, page by page, and by nobody who does not ask", async () => {
    const memory = await edited();
    const { messages } = await memory.history({ branches: true, order: "descending", limit: 3 });
    expect(messages.map(({ id, parent }) => [id, parent])).toEqual([
      ["a2'", 5],
      ["q2'", 2],
      ["a2", 3],
    ]);
    const plain = await memory.history({ limit: 1 });
    expect(plain.messages[0]).not.toHaveProperty("parent");
    await expect(memory.history({ branches: 1 as never })).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("of a prompt there are none: it stands apart, and is no part of a branch", async () => {
    const memory = createChatMemory({ id: "m", store: inMemoryStore() });
    const [prompt] = await memory.add(system("one"), question("q1"), answer("a1"));
    await memory.instruct(system("two"));
    await memory.add(question("q2"));
    await edit(memory, "q2", question("q2'"));
    expect(await ids(memory, prompt)).toEqual([]);
    await expect(memory.restore(prompt)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await memory.restore("q2");
    expect(await shown(memory)).toEqual(["two", "q1", "a1", "q2"]);
    const { messages } = await memory.history({ branches: true });
    expect(messages.map(({ parent }) => parent)).toEqual([undefined, 1, 2, undefined, 3, 3]);
  });

  test("of what is not there, and where no history is kept, are an error", async () => {
    const memory = await edited();
    for (const call of [memory.versions("nobody"), memory.restore("nobody")])
      await expect(call).rejects.toMatchObject({ code: "NOT_FOUND", details: { messageIds: ["nobody"] } });
    const without = createChatMemory({ id: "m", store: withoutHistory(inMemoryStore()) });
    await without.add(question("q"));
    for (const call of [without.versions("q"), without.restore("q")])
      await expect(call).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  test("cost few reads where the one that stood there is gone", async () => {
    const inner = inMemoryStore();
    const memory = await edited({}, inner);
    await memory.restore("q2");
    await memory.add(...Array.from({ length: 500 }, (_, count) => question(`later ${count}`)));
    for (const id of ["q2", "a2"]) await memory.remove(id, { only: true });
    let reads = 0;
    const store = meeting(inner, (call, isMade) => {
      if (call === "getHistory" && isMade) reads++;
    });
    expect(await ids(createChatMemory({ id: "m", store }), "q2'")).toEqual([]);
    expect(reads).toBeLessThan(6);
  });

  test("belong to an owner as all else does", async () => {
    const store = inMemoryStore();
    await createChatMemories({ store }).get("m", { owner: "ann" }).add(question("q"));
    const theirs = createChatMemories({ store }).get("m", { owner: "bob" });
    for (const call of [theirs.versions("q"), theirs.restore("q")])
      await expect(call).rejects.toMatchObject({ code: "OWNER_MISMATCH" });
  });
});

describe("restore", () => {
  test("switches there and back, and changes nothing where it is already", async () => {
    const store = inMemoryStore();
    const memory = await edited({}, store);
    await memory.restore("q2");
    expect(await shown(memory)).toEqual(["q1", "a1", "q2", "a2"]);
    expect(await states(memory)).toBe("q1 live, a1 live, q2 live, a2 live, q2' superseded, a2' superseded");
    const { version } = await store.getMessages("m");
    await memory.restore("q2");
    await memory.restore("q1");
    expect((await store.getMessages("m")).version).toBe(version);
    await memory.restore("a2'");
    expect(await shown(memory)).toEqual(["q1", "a1", "q2'", "a2'"]);
  });

  test("what is said then follows the branch, not what was said last", async () => {
    const memory = await edited();
    await memory.restore("q2");
    await memory.add(question("q3"));
    await memory.restore("q2'");
    expect(await shown(memory)).toEqual(["q1", "a1", "q2'", "a2'"]);
    await memory.restore("q2");
    expect(await shown(memory)).toEqual(["q1", "a1", "q2", "a2", "q3"]);
  });

  test("of a branch with several goes to the one on which something was said last", async () => {
    const memory = await edited();
    await edit(memory, "a2'", answer("a2''"));
    await memory.restore("a2'");
    await memory.add(question("q3"));
    await edit(memory, "q1", question("q1'"));
    await memory.restore("q2'");
    expect(await shown(memory)).toEqual(["q1", "a1", "q2'", "a2'", "q3"]);
  });

  test("takes in whole steps, what the window has room for", async () => {
    const memory = createChatMemory({ id: "m", store: inMemoryStore(), window: { maxMessages: 3 } });
    await memory.add(question("q1"), answer("a1"));
    await memory.add(question("q2"), entry(toolCall("c", "t", {}), { id: "call" }));
    await memory.add(entry(toolResult("c", "t", "done"), { id: "result" }), answer("a2"));
    await edit(memory, "q2", question("q2'"), answer("a2'"));
    await memory.restore("q2");
    expect(await states(memory)).toBe(
      "q1 evicted, a1 evicted, q2 evicted, call live, result live, a2 live, q2' superseded, a2' superseded",
    );
    await memory.restore("q2'");
    expect(await states(memory)).toBe(
      "q1 evicted, a1 live, q2 superseded, call superseded, result superseded, a2 superseded, q2' live, a2' live",
    );
  });

  test("brings the call of a result that it brings, which has left meanwhile", async () => {
    const memory = createChatMemory({ id: "m", store: inMemoryStore(), window: { maxMessages: 3 } });
    await memory.add(question("q1"), entry(toolCall("c", "t", {}), { id: "call" }));
    await memory.add(entry(toolResult("c", "t", "done"), { id: "result" }));
    await edit(memory, "result", question("q2"), answer("a2"), question("q3"));
    await memory.restore("result");
    expect(await states(memory)).toBe(
      "q1 live, call live, result live, q2 superseded, a2 superseded, q3 superseded",
    );
  });

  test("keeps what is pinned, and takes away a summary of what is superseded", async () => {
    const pinned = ({ content }: ModelMessage): boolean => content === "q2";
    const memory = createChatMemory({
      id: "m",
      store: inMemoryStore(),
      window: { maxMessages: 3, pinned },
    });
    await memory.add(question("q1"), question("q2"), answer("a2"), question("q3"), answer("a3"));
    await edit(memory, "q2", question("q2'"), answer("a2'"));
    await memory.compact({ through: "q2'", replacement: user("q1 and q2'") });
    await memory.restore("q3");
    expect(await shown(memory)).toEqual(["q2", "q3", "a3"]);
    const early = await edited();
    await early.compact({ through: "a1", replacement: user("the first turn") });
    await early.restore("q2");
    expect(await shown(early)).toEqual(["the first turn", "q2", "a2"]);
  });

  test("brings the settings and instructions of its branch back", async () => {
    const memory = createChatMemory({ id: "m", store: inMemoryStore(), systemMessages: "positioned" });
    await memory.add(system("prompt"), question("q1"));
    const [late] = await memory.add(system("it is late"), question("q2"));
    await edit(memory, late, question("q2'"));
    await memory.restore(late);
    expect(await shown(memory)).toEqual(["prompt", "q1", "it is late", "q2"]);
  });

  test("one by one, has one prompt: the last of its branch", async () => {
    const window = { maxMessages: 9, unit: "message" } as const;
    const memory = createChatMemory({ id: "m", store: inMemoryStore(), window });
    await memory.add(system("one"), question("q1"), system("two"), system("three"), answer("a1"));
    await edit(memory, "q1", question("q1'"));
    await memory.restore("q1");
    expect(await shown(memory)).toEqual(["q1", "three", "a1"]);
    const { messages } = await memory.history({ states: ["superseded"] });
    const replaced = messages.find(({ message }) => message.content === "two");
    await expect(memory.restore(replaced?.id ?? "")).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("leaves out what was removed, and knows where a branch begins that has lost its first message", async () => {
    const memory = await edited();
    await memory.remove("q2", { only: true });
    expect(await ids(memory, "q2'")).toEqual([]);
    await memory.restore("a2");
    expect(await shown(memory)).toEqual(["q1", "a1", "a2"]);
    await memory.add(question("q3"));
    await memory.remove("q2'", { only: true });
    await memory.restore("a2'");
    expect(await shown(memory)).toEqual(["q1", "a1", "a2'"]);
    await memory.remove("a2'", { only: true });
    await memory.restore("a2");
    expect(await shown(memory)).toEqual(["q1", "a1", "a2", "q3"]);
    const { messages } = await memory.history({ branches: true });
    expect(messages.map(({ id, parent }) => [id, parent])).toEqual([
      ["q1", 0],
      ["a1", 1],
      ["a2", 3],
      ["q3", 4],
    ]);
  });

  test.each([true, false])(
    "has all versions but one that was removed, its answer in parts: %s",
    async (inParts) => {
      const memory = createChatMemory({ id: "m", store: inMemoryStore(), format: formatWith(inParts) });
      await memory.add(question("q"), answer("1"), answer("1 on"));
      await edit(memory, "1", answer("2"), answer("2 on"));
      await edit(memory, "2", entry(toolCall("c", "t", {}), { id: "3" }));
      await edit(memory, "3", entry(toolCall("c", "t", {}), { id: "4" }));
      await memory.add(entry(toolResult("c", "t", "done"), { id: "done" }));
      await edit(memory, "4", answer("5"));
      const whole = (...step: string[]) => (inParts ? step : step.slice(0, 1));
      expect(await memory.remove("1")).toEqual(whole("1", "1 on"));
      expect(await memory.remove("3")).toEqual(["3"]);
      expect(await memory.remove("done")).toEqual(["4", "done"]);
      const left = (await memory.history()).messages.map(({ id }) => id);
      expect(left).toEqual(["q", ...(inParts ? [] : ["1 on"]), "2", "2 on", "5"]);
    },
  );

  test("knows where a branch begins that has lost more than its first message", async () => {
    const memory = await edited();
    await memory.add(question("q3'"));
    for (const id of ["a2'", "q2'"]) await memory.remove(id, { only: true });
    await memory.restore("q2");
    await memory.restore("q3'");
    expect(await shown(memory)).toEqual(["q1", "a1", "q3'"]);
  });

  test("knows what the rest of a branch follows that lost its first messages one by one, in any order", async () => {
    const whole = ["q2'", "a2'", "q3'"];
    for (const gone of [whole, whole.toReversed(), ["a2'", "q2'", "q3'"], ["q3'", "q2'", "a2'"]]) {
      const store = inMemoryStore();
      const memory = await edited({}, store);
      await memory.add(question("q3'"));
      await memory.rewind("q3'");
      await memory.add(question("q4"));
      await memory.rewind("q4");
      await memory.add(question("q3''"), answer("a3''"));
      for (const id of gone) await memory.remove(id, { only: true });
      expect(JSON.parse((await store.getMessages("m")).head ?? "{}").lost).toHaveLength(1);
      const { messages } = await memory.history({ branches: true });
      const parents = messages.map(({ id, parent }) => [id, parent]);
      expect(parents.slice(4)).toEqual([
        ["q4", 2],
        ["q3''", 2],
        ["a3''", 9],
      ]);
      expect(await ids(memory, "q4")).toEqual(["q2", "q3''"]);
      await memory.restore("q2");
      await memory.restore("q4");
      expect(await shown(memory)).toEqual(["q1", "a1", "q4"]);
    }
  });

  test("notes the newest of the branches that have lost their first message, and no more than 20", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    for (let count = 0; count < 22; count++) {
      await memory.add(question(`a${count}`));
      await edit(memory, `a${count}`, question(`b${count}`), question(`c${count}`));
      await memory.remove(`b${count}`, { only: true });
    }
    const { lost } = JSON.parse((await store.getMessages("m")).head ?? "{}");
    expect(lost).toHaveLength(20);
    expect(lost.at(-1)).toEqual({ from: 65, through: 65, parent: 63 });
    const parents = async (reader: Memory) =>
      (await reader.history({ branches: true, limit: 1000 })).messages.map(({ parent }) => parent);
    expect(await parents(memory)).toEqual(await parents(createChatMemory({ id: "m", store })));
  });

  test("follows no head that somebody has damaged in a circle", async () => {
    const store = inMemoryStore();
    const append = [1, 2, 7].map((seq) => {
      const payload = createChatMemory().format.encode(user(`${seq}`));
      return { id: `${seq}`, seq, createdAt: 1, payload };
    });
    const head = JSON.stringify({
      v: 1,
      epoch: 0,
      life: "x",
      lost: [{ from: 6, through: 6, parent: 6 }],
      branch: 5,
    });
    const move = [{ seq: 7, to: "superseded" as const }];
    await store.updateMessages("m", {
      expected: null,
      version: "v",
      nextSeq: 8,
      head,
      append,
      replace: [],
      move,
    });
    const memory = createChatMemory({ id: "m", store });
    await memory.restore("7");
    expect(await shown(memory)).toEqual(["1", "2", "7"]);
  });

  test("brings back no older message where a newer one had to leave", async () => {
    const window = { maxMessages: 5 };
    const memory = createChatMemory({
      id: "m",
      store: inMemoryStore(),
      window,
      systemMessages: "positioned",
    });
    await memory.add(question("q1"));
    const [late] = await memory.add(system("it is late"));
    await memory.add(question("q2"), question("q3"));
    await memory.add(
      entry(toolCall("c", "t", {}), { id: "call" }),
      entry(toolResult("c", "t", "done"), { id: "result" }),
    );
    await memory.add(answer("a3"));
    await memory.rewind(late);
    await memory.restore(late);
    expect((await memory.entries()).map(({ id }) => id)).toEqual(["q3", "call", "result", "a3"]);
  });

  test("takes back a set, with what stood before that and had left by then", async () => {
    const pinned = ({ content }: ModelMessage): boolean => content === "q1";
    const window = { maxMessages: 3, pinned };
    const memory = createChatMemory({ id: "m", store: inMemoryStore(), window });
    await memory.add(question("q1"), answer("a1"), question("q2"), answer("a2"));
    await memory.set([question("new")]);
    expect(await states(memory)).toBe("q1 superseded, a1 evicted, q2 superseded, a2 superseded, new live");
    await memory.restore("a2");
    expect(await states(memory)).toBe("q1 live, a1 evicted, q2 live, a2 live, new superseded");
  });

  test("leaves out what was pruned, of a branch too that has lost no more than its beginning", async () => {
    const store = inMemoryStore();
    const memory = await edited({}, store);
    await memory.restore("q2");
    await memory.add(question("q3"));
    await createChatMemories({ store }).prune({ olderThanMs: 3_600_000, states: ["superseded"] });
    await expect(memory.restore("q2'")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await ids(memory, "q2")).toEqual(["a2'"]);
    await memory.restore("a2'");
    expect(await shown(memory)).toEqual(["q1", "a1", "a2'"]);
    await memory.restore("q2");
    expect(await shown(memory)).toEqual(["q1", "a1", "q2", "a2", "q3"]);
  });

  test("is one commit with the changes beside it, and one event says what is back", async () => {
    const events: MemoryEvent[] = [];
    const store = inMemoryStore();
    const memory = await edited({ onEvent: (event: MemoryEvent) => void events.push(event) }, store);
    events.length = 0;
    await memory.transaction(async (change) => {
      change.restore("q2");
      expect((await change.entries()).map(({ id }) => id)).toEqual(["q1", "a1", "q2", "a2"]);
      change.add(question("q3"));
    });
    expect(events.map(({ type, ...event }) => [type, "messageIds" in event && event.messageIds])).toEqual([
      ["added", ["q3"]],
      ["rewound", ["q2'", "a2'"]],
      ["restored", ["q2", "a2"]],
      ["committed", false],
    ]);
    const put = memory.transaction((change) => {
      change.restore("q2'");
      change.put("q2'", user("x"));
    });
    await expect(put).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await memory.transaction((change) => {
      change.rewind("a2");
      change.restore("a2");
    });
    expect(await shown(memory)).toEqual(["q1", "a1", "q2", "a2", "q3"]);
    events.length = 0;
    await memory.transaction((change) => {
      change.restore("q2'");
      change.restore("q2");
    });
    expect(events.filter(({ type }) => type === "rewound" || type === "restored")).toEqual([]);
  });

  test("is made on what others have written meanwhile, unless its caller must have seen it", async () => {
    const store = inMemoryStore();
    const ours = await edited({}, store);
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(question("q3"));
    await expect(ours.restore("q2", { onConflict: "throw" })).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    await ours.restore("q2");
    expect(await shown(theirs)).toEqual(["q1", "a1", "q2", "a2"]);
    const mustExist = await ours.anchor("q2");
    await theirs.restore("q2'");
    await expect(ours.restore("a2", { mustExist })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("whose answer is lost is made once, and not again over what others said since", async () => {
    const store = inMemoryStore();
    const theirs = await edited({}, store);
    const ours = createChatMemory({ id: "m", store: losing(store, () => theirs.add(question("q3"))) });
    await ours.restore("q2");
    expect(await shown(theirs)).toEqual(["q1", "a1", "q2", "a2", "q3"]);
  });

  test("leaves one branch or the other, wherever the process dies", async () => {
    const wanted = [
      ["q1", "a1", "q2", "a2"],
      ["q1", "a1", "q2'", "a2'"],
    ];
    const reached: unknown[] = [];
    for (let dies = 1; dies < 30; dies++) {
      const store = inMemoryStore();
      await edited({}, store);
      let calls = 0;
      const dying: ChatMemoryStore = meeting(store, () => {
        if (++calls >= dies) throw new Error("dead");
      });
      const ours = createChatMemory({ id: "m", store: dying, retry: false });
      const ended = await ours.restore("q2").then(
        () => true,
        () => false,
      );
      const theirs = createChatMemory({ id: "m", store });
      const now = await shown(theirs);
      expect(wanted).toContainEqual(now);
      reached.push(now);
      await theirs.restore("q2");
      expect(await shown(theirs)).toEqual(wanted[0]);
      if (ended) break;
    }
    expect(reached).toContainEqual(wanted[1]);
    expect(reached.at(-1)).toEqual(wanted[0]);
  });
});

test("an append bears no more than before, but for the first of a branch", async () => {
  const store = inMemoryStore();
  const memory = await edited({}, store);
  await memory.restore("q2");
  await memory.add(question("q3"), answer("a3"));
  const { messages } = await store.getHistory("m", {});
  expect(messages.map(({ meta }) => JSON.parse(meta ?? "{}").parent)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    2,
    undefined,
    4,
    undefined,
  ]);
});
