import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  entry,
  inMemoryStore,
  type ModelMessage,
  user,
} from "../src/index.ts";
import { withoutHistory } from "./without-history.ts";

type Memory = ChatMemory<ModelMessage>;

const question = () => entry(user("question"), { id: "q" });
const texts = async (memory: Memory): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

/** A question under the caller's own id, an anchor at it, and another instance that acts while a model works. */
async function setUp() {
  const store = inMemoryStore();
  const ours = createChatMemory({ id: "m", store });
  const theirs = createChatMemory({ id: "m", store });
  await ours.add(user("before"), question());
  const anchor = await ours.anchor("q");
  return { ours, theirs, anchor };
}

const gone: [string, (theirs: Memory) => Promise<unknown>, unknown[]][] = [
  ["the conversation was cleared", (theirs) => theirs.clear(), []],
  [
    "it was cleared, and begun anew with the same question",
    async (theirs) => {
      await theirs.clear();
      await theirs.add(user("before"), question());
    },
    ["before", "question"],
  ],
  ["the question was rewound", (theirs) => theirs.rewind("q"), ["before"]],
  ["the question was removed", (theirs) => theirs.remove("q"), ["before"]],
  [
    "the question was removed, and asked again under its id",
    async (theirs) => {
      await theirs.remove("q");
      await theirs.add(question());
    },
    ["before", "question"],
  ],
  ["the memory was set", (theirs) => theirs.set([user("other")]), ["other"]],
];

describe.each(gone)("while a model worked, %s", (_what, meanwhile, shown) => {
  test.each<[string, (ours: Memory, mustExist: Awaited<ReturnType<Memory["anchor"]>>) => Promise<unknown>]>([
    ["an add", (ours, mustExist) => ours.transaction(({ add }) => add(assistant("answer")), { mustExist })],
    ["a put that adds", (ours, mustExist) => ours.put("a", assistant("answer"), { mustExist })],
    [
      "a change with an anchor that went to another process",
      (ours, mustExist) =>
        ours.put("a", assistant("answer"), { mustExist: JSON.parse(JSON.stringify(mustExist)) }),
    ],
  ])("%s is NOT_FOUND, and nothing is written", async (_change, write) => {
    const { ours, theirs, anchor } = await setUp();
    await meanwhile(theirs);
    await expect(write(ours, anchor)).rejects.toMatchObject({
      code: "NOT_FOUND",
      details: { memoryId: "m" },
    });
    expect(await texts(theirs)).toEqual(shown);
  });
});

const kept: [string, (theirs: Memory) => Promise<unknown>][] = [
  ["nothing", async () => {}],
  ["others add", (theirs) => theirs.add(user("more"))],
  ["the question is put anew in its place", (theirs) => theirs.put("q", user("question!"))],
  ["the question is compacted", (theirs) => theirs.compact({ through: "q", replacement: user("sum") })],
];
test.each(kept)(
  "what is bound to a question is written where it is still there: %s",
  async (_what, meanwhile) => {
    const { ours, theirs, anchor } = await setUp();
    await meanwhile(theirs);
    await ours.transaction(({ add }) => add(assistant("answer")), { mustExist: anchor });
    await ours.put("a", assistant("beginning"), { mustExist: anchor });
    await ours.put("a", assistant("end"), { mustExist: await ours.anchor("a") });
    expect((await texts(theirs)).slice(-2)).toEqual(["answer", "end"]);
  },
);

test("an anchor at the conversation alone holds while it is the same, whatever becomes of its messages", async () => {
  const { ours, theirs } = await setUp();
  const mustExist = await ours.anchor();
  await theirs.rewind("q");
  await ours.transaction(({ add }) => add(assistant("answer")), { mustExist });
  await theirs.clear();
  await theirs.add(user("new"));
  const late = ours.transaction(({ add }) => add(assistant("late")), { mustExist });
  await expect(late).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await texts(theirs)).toEqual(["new"]);
});

test("a question that left memory is found in history; where none is kept, the conversation alone counts", async () => {
  for (const keep of [true, false]) {
    const store = keep ? inMemoryStore() : withoutHistory(inMemoryStore());
    const memory = createChatMemory({ id: "m", store, window: { maxMessages: 2 } });
    await memory.add(question());
    const mustExist = await memory.anchor("q");
    await memory.add(user("1"), user("2"));
    await memory.transaction(({ add }) => add(assistant("answer")), { mustExist });
    expect(await texts(memory)).toEqual(["2", "answer"]);
    await memory.clear();
    const late = memory.transaction(({ add }) => add(assistant("late")), { mustExist });
    await expect(late).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});

test("an anchor is made of what this instance knows, without a read, and of an evicted message by one", async () => {
  const store = inMemoryStore();
  const calls: string[] = [];
  const counting = new Proxy(store, {
    get(target, name: keyof typeof store) {
      const member = target[name];
      if (typeof member !== "function") return member;
      return (...given: never[]) => {
        calls.push(name as string);
        return (member as (...given: never[]) => unknown)(...given);
      };
    },
  });
  const memory = createChatMemory({ id: "m", store: counting, window: { maxMessages: 1 } });
  await memory.add(question(), entry(user("2"), { id: "2" }));
  calls.length = 0;
  await memory.anchor("2");
  expect(calls).toEqual([]);
  await memory.anchor("q");
  expect(calls).toEqual(["getHistory"]);
});

test("an instance that has found nothing looks anew: somebody may have begun it since", async () => {
  const store = inMemoryStore();
  const ours = createChatMemory({ id: "m", store });
  expect(await ours.messages()).toEqual([]);
  await createChatMemory({ id: "m", store }).add(question());
  expect(await ours.anchor("q")).toMatchObject({ messageId: "q" });
});

test("an anchor at what is not there is NOT_FOUND", async () => {
  const { ours } = await setUp();
  await expect(ours.anchor("nobody's")).rejects.toMatchObject({
    code: "NOT_FOUND",
    details: { memoryId: "m", messageIds: ["nobody's"], call: "anchor" },
  });
  await ours.rewind("q");
  await expect(ours.anchor("q")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(createChatMemory().anchor()).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test.each([
  [{}],
  [{ life: 1 }],
  [{ life: "l", messageId: "q" }],
  [{ life: "l", seq: 1 }],
  [{ life: "l", messageId: "q", seq: "1" }],
  [{ life: "l", messageId: "q", seq: null }],
  [{ life: "l", other: 1 }],
  [null],
  ["l"],
])("%j is no anchor: INVALID_OPTION", async (wrong) => {
  const { ours } = await setUp();
  const change = ours.put("a", assistant("answer"), { mustExist: wrong as never });
  await expect(change).rejects.toMatchObject({ code: "INVALID_OPTION", message: /^mustExist/ });
});
