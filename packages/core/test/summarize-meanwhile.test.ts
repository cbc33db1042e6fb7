import { describe, expect, test } from "vitest";
import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessageLike,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { gate } from "./gate.ts";
import { audited, Ledger, numbers, say, setUp, summarizing, texts } from "./summarize-support.ts";

type Memory = ChatMemory<ModelMessageLike>;

describe("the memory is changed while a summary of five messages is made", () => {
  type Change = (memory: Memory, ids: readonly string[], store: ChatMemoryStore) => Promise<unknown>;
  const used = 1;
  const cases: [string, Change, readonly string[], readonly (readonly string[])[], number][] = [
    ["nothing", async () => {}, ["§0", "word 6", "word 7"], [], used],
    ["somebody adds", (memory) => say(memory, "word 8"), ["§0", ...numbers(6, 8)], [], used],
    [
      "somebody adds more than fits beside it: it is used, and the rest is summarized with it",
      (memory) => say(memory, ...numbers(8, 12)),
      ["§1", ...numbers(11, 12)],
      [["§0", ...numbers(6, 10)]],
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
      [["word 1", "word 2b", ...numbers(3, 5)]],
      1,
    ],
    [
      "a message that leaves is removed: what is left fits",
      (memory, ids) => memory.remove(ids[1] as string),
      ["word 1", ...numbers(3, 7)],
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
      [["word 1", ...numbers(3, 6)]],
      1,
    ],
    ["a rewind to what leaves", (memory, ids) => memory.rewind(ids[3] as string), numbers(1, 3), [], 0],
    [
      "a rewind to what stays: all fits",
      (memory, ids) => memory.rewind(ids[6] as string),
      numbers(1, 6),
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
      ["own", ...numbers(4, 7)],
      [],
      0,
    ],
    ["shrink: what is left fits", (memory) => memory.shrink(), numbers(4, 7), [], 0],
    [
      "another memory was faster",
      async (_memory, _ids, store) => {
        const other = summarizing(store, () => user("their"));
        await say(other, "word 8");
      },
      ["their", ...numbers(7, 8)],
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
      besideChanges(events),
    );
    const ids = await say(memory, ...numbers(1, 6));
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
    await memory.add(toolCall("c", "look", {}), ...numbers(1, 4).map((word) => user(word)));
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
      ["§2", ...numbers(10, 11)],
    ],
    ["removed: what is left fits", (memory, summaryId) => memory.remove(summaryId), numbers(6, 11)],
    [
      "removed, and what is left does not fit: asked again, without it",
      async (memory, summaryId) => {
        await memory.remove(summaryId);
        await say(memory, "word 12");
      },
      ["§2", ...numbers(11, 12)],
    ],
    [
      "replaced by a compact that reaches no further: asked again, with that",
      (memory, _summaryId, fifth) => memory.compact({ through: fifth, replacement: user("own") }),
      ["§2", ...numbers(10, 11)],
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
    const ids = await say(memory, ...numbers(1, 7));
    const [summary] = store.summaries[0]?.append ?? [];
    const adding = say(memory, ...numbers(8, 11));
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
        await other.put(first, user(`changed ${++times}`));
        return user("sum");
      },
      besideChanges(events),
    );
    await say(memory, ...numbers(1, 6));
    expect(times).toBe(3);
    expect(await texts(memory)).toEqual(numbers(1, 6));
    const failed = events.filter((event) => event.type === "summarize-failed");
    expect(failed.map((event) => event.reason)).toEqual(["conflict", "conflict", "conflict"]);
    expect(events.at(-1)).toMatchObject({ type: "evicted", messageIds: [first] });
  });
});

test("a summary put late stands for no more than was summarized: a rewind to what was said before it leaves the next one", async () => {
  const { opened, open } = gate();
  const work: Promise<void>[] = [];
  const { memory } = setUp(
    { maxMessages: 6, target: 0.5, waitUntil: (promise) => work.push(promise) },
    (ledger) => async (evicted) => {
      await opened;
      return ledger.answerFor(evicted);
    },
  );
  await say(memory, ...numbers(1, 7));
  const [, , tenth] = await say(memory, ...numbers(8, 10));
  open();
  await Promise.all(work);
  expect(await texts(memory)).toEqual(["§0", ...numbers(6, 10)]);
  await say(memory, "word 11");
  await Promise.all(work);
  expect(await texts(memory)).toEqual(["§1", ...numbers(10, 11)]);
  await memory.rewind(tenth as string);
  expect(await texts(memory)).toEqual(["§1"]);
});
