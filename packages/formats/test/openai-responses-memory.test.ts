import { createChatMemories, createChatMemory, inMemoryStore } from "@turnkeep/core";
import { type Processor, stripReasoning, toolCallFilter } from "@turnkeep/core/processors";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openaiResponsesFormat as format, type ResponsesItem } from "../src/openai-responses.ts";
import { openaiResponses, profileOf, strict } from "../src/profiles.ts";

const user = (content: string): ResponsesItem => ({ role: "user", content });
const said = (content: string): ResponsesItem => ({ role: "assistant", content });
const call = (id: string): ResponsesItem => ({
  type: "function_call",
  call_id: id,
  name: "f",
  arguments: "{}",
});
const result = (id: string, output = "done"): ResponsesItem => ({
  type: "function_call_output",
  call_id: id,
  output,
});
const reasoning = (id: string): ResponsesItem => ({ type: "reasoning", id, summary: [] });
const search = (id: string): ResponsesItem => ({
  type: "web_search_call",
  id,
  action: { type: "search" },
  status: "completed",
});

describe("reasoning and what it led to, of which the API refuses one without the other,", () => {
  const shown = async (processor: Processor<ResponsesItem>, ...items: ResponsesItem[]): Promise<unknown> => {
    const memory = createChatMemory({ format, processors: [processor] });
    await memory.add(user("Go."), ...items, user("Next."));
    return (await memory.messages()).slice(1, -1);
  };
  const answer = (id?: string): ResponsesItem => {
    const content = [{ type: "output_text" as const, text: "Done.", annotations: [] }];
    return {
      type: "message",
      role: "assistant",
      status: "completed",
      content,
      ...(id && { id }),
    } as ResponsesItem;
  };
  const made = { ...call("a"), id: "fc_1" } as ResponsesItem;
  const other = { ...call("b"), id: "fc_2", name: "g" } as ResponsesItem;

  it("go together where calls are left out", async () => {
    const filter = toolCallFilter({ exclude: ["f"], keepLastSteps: 0 });
    const end = [reasoning("z"), answer("msg_1")];
    const calls = [reasoning("r"), reasoning("s"), made, result("a"), ...end];
    expect(await shown(filter, ...calls)).toEqual(end);
    const unthought = [reasoning("r"), made, result("a"), answer("msg_1")];
    expect(await shown(filter, ...unthought)).toEqual([answer("msg_1")]);
    const two = [reasoning("r"), made, other, result("a"), result("b"), ...end];
    expect(await shown(filter, ...two)).toEqual([reasoning("r"), other, result("b"), ...end]);
    const later = [reasoning("r"), made, reasoning("s"), other, result("a"), result("b"), ...end];
    expect(await shown(filter, ...later)).toEqual([reasoning("s"), other, result("b"), ...end]);
    expect(await shown(filter, reasoning("r"))).toEqual([reasoning("r")]);
  });

  it("are parted where reasoning is left out: by its id the API knows what an item needs", async () => {
    const items = [reasoning("r"), made, result("a"), reasoning("s"), search("ws_1"), answer("msg_1")];
    const bare = [call("a"), result("a"), answer()];
    expect(await shown(stripReasoning(), ...items)).toEqual(bare);
    const unbound = [
      search("ws_1"),
      { ...call("a"), id: "fc_1" },
      result("a"),
      search("ws_2"),
      answer("msg_1"),
    ];
    expect(await shown(stripReasoning(), ...unbound)).toEqual(unbound);
    expect(await shown(stripReasoning(), reasoning("r"), search("ws_1"))).toEqual([]);
    expect(await shown(stripReasoning({ keepLastSteps: 1 }), ...items)).toEqual([
      ...bare.slice(0, 2),
      ...items.slice(3),
    ]);
    const memory = createChatMemory({ format });
    await memory.add(user("Go."), ...items, user("Next."));
    expect((await memory.messages({ profile: strict })).filter((item) => "id" in item)).toEqual([]);
    const bound = profileOf("bound", [{ rule: "reasoning", kept: "bound", source: "https://example.com" }]);
    await memory.remove((await memory.history()).messages[0]?.id ?? "");
    expect((await memory.messages({ profile: bound })).slice(0, -1)).toEqual(bare);
  });
});

describe("an answer of several items", () => {
  it("that is shown as it is is no repair, one that is not is", async () => {
    const told: unknown[] = [];
    const memory = createChatMemory({
      format,
      onEvent: (event) => event.type === "repaired" && told.push(event.leftOut),
    });
    const items = [user("Go."), reasoning("r"), said("Done."), user("Next."), reasoning("s"), call("a")];
    await memory.add(...items, result("a"));
    expect(await memory.messages()).toEqual([...items, result("a")]);
    expect(told).toEqual([]);
    const [again] = await memory.add(result("a", "again"));
    expect(await memory.messages()).toEqual([...items, result("a")]);
    expect(told).toEqual([[again]]);
  });

  it("shows what a call brought after all instead of that it was aborted", async () => {
    const memory = createChatMemory({ format });
    await memory.add(user("Go."), reasoning("r"), call("a"), call("b"), result("a", "aborted"), result("b"));
    await memory.add(result("a", "4 °C"), user("Next."));
    expect((await memory.messages()).slice(2)).toEqual([
      call("a"),
      call("b"),
      result("b"),
      result("a", "4 °C"),
      user("Next."),
    ]);
  });

  it("keeps its order, and each result its call, when calls are made at once", async () => {
    const memory = createChatMemory({ format });
    const items = [
      user("Go."),
      reasoning("r"),
      call("a"),
      call("b"),
      result("b"),
      result("a"),
      user("Next."),
    ];
    await memory.add(...items);
    expect(await memory.messages()).toEqual(items);
  });

  it("leaves the window as a whole, reasoning and all", async () => {
    const memory = createChatMemory({ format, window: { maxMessages: 3 } });
    await memory.add(reasoning("r"), call("a"), result("a"), user("Next."));
    expect(await memory.messages()).toEqual([user("Next.")]);
  });

  it("answers what a crash left open behind its last item", async () => {
    const memory = createChatMemory({ format });
    await memory.add(user("Go."), call("a"), call("b"), result("b"), user("Next."));
    const view = await memory.messages();
    expect(view.map((item) => format.toolResults(item)[0]?.id)).toEqual([
      undefined,
      undefined,
      undefined,
      "b",
      "a",
      undefined,
    ]);
  });

  it("leaves what the newest answer asked to the application", async () => {
    const memory = createChatMemory({ format });
    const items = [user("Go."), call("a"), call("b"), result("b")];
    await memory.add(...items);
    expect(await memory.messages()).toEqual(items);
  });

  it("puts a result that came before its call behind it", async () => {
    const memory = createChatMemory({ format });
    await memory.add(user("Go."), result("b"), call("a"), call("b"), result("a"), user("Next."));
    expect(await memory.messages()).toEqual([
      user("Go."),
      call("a"),
      call("b"),
      result("a"),
      result("b"),
      user("Next."),
    ]);
  });

  it("goes on behind what the API brought itself, and behind an approval", async () => {
    const items: ResponsesItem[] = [
      reasoning("r1"),
      { type: "tool_search_call", call_id: "s", arguments: {}, execution: "server" },
      { type: "tool_search_output", call_id: "s", tools: [], execution: "server" },
      reasoning("r2"),
      { type: "mcp_approval_request", id: "q", name: "f", arguments: "", server_label: "l" },
      { type: "mcp_approval_response", approval_request_id: "q", approve: true },
      reasoning("r3"),
      { type: "mcp_call", id: "m", name: "f", arguments: "", server_label: "l", approval_request_id: "q" },
    ];
    const memory = createChatMemory({ format, window: { maxMessages: 8 } });
    await memory.add(...items);
    expect(await memory.messages()).toEqual(items);
    await memory.add(user("Next."));
    expect(await memory.messages()).toEqual([user("Next.")]);
  });

  it("starts anew at a compaction", async () => {
    const memory = createChatMemory({ format });
    const compaction: ResponsesItem = { type: "compaction", encrypted_content: "x" };
    await memory.add(user("Go."), said("Gone."), compaction, reasoning("r"), said("Again."));
    expect(await memory.messages()).toEqual([compaction, reasoning("r"), said("Again.")]);
  });
});

it("the window that the API returns from compacting is shown whole, with what comes behind it", async () => {
  const memory = createChatMemory({ format, profile: openaiResponses, window: { maxMessages: 20 } });
  await memory.add(user("Our deadline is 3 May."), said("Noted."));
  const window = [
    user("Our deadline is 3 May."),
    user("Use Oslo time."),
    { type: "compaction", id: "cmp_1", encrypted_content: "x" } as ResponsesItem,
  ];
  await memory.set(window);
  await memory.add(user("How long is that?"));
  expect(await memory.messages()).toEqual([...window, user("How long is that?")]);
});

type Fate = "in time" | "late" | "never" | "twice";
const fate = fc.constantFrom<Fate>("in time", "in time", "late", "never", "twice");
const answer = fc.record({
  reasoning: fc.boolean(),
  search: fc.boolean(),
  fates: fc.array(fate, { maxLength: 3 }),
});
const turns = fc.array(fc.array(answer, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });

/** A conversation as the API and its application make it; ids are unique. */
function conversation(
  all: readonly (readonly { reasoning: boolean; search: boolean; fates: Fate[] }[])[],
): ResponsesItem[] {
  const items: ResponsesItem[] = [];
  let late: ResponsesItem[] = [];
  let next = 0;
  for (const turn of all) {
    items.push(user(`u${next++}`));
    for (const { reasoning: thinks, search: searches, fates } of turn) {
      if (thinks) items.push(reasoning(`r${next++}`));
      if (searches) items.push(search(`s${next++}`));
      const ids = fates.map(() => `c${next++}`);
      items.push(...(ids.length === 0 ? [said(`a${next++}`)] : ids.map(call)));
      const arriving = late;
      late = [];
      const before = items.length;
      fates.forEach((how, at) => {
        const id = ids[at] as string;
        if (how === "late") late.push(result(id, "late"));
        if (how === "in time" || how === "twice") items.push(result(id));
        if (how === "twice") items.push(result(id, "again"));
      });
      // Nobody asks the model again behind calls that nothing answers; the user may.
      if (ids.length > 0 && items.length === before) items.push(user(`u${next++}`));
      items.push(...arriving);
    }
  }
  return items;
}

describe("the view of any conversation", () => {
  it("tears no answer apart and answers each call once, right where it belongs", async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 1, max: 14 }), async (all, maxMessages) => {
        const items = conversation(all);
        const memory = createChatMemory({ format, window: { maxMessages, overflow: "keep" } });
        for (const item of items) await memory.add(item);
        const view = await memory.messages();
        expect(await memory.messages()).toEqual(view);
        const texts = items.map((item) => JSON.stringify(item));
        const shown = view.map((item) => JSON.stringify(item));
        // Calls, thoughts and words: in their order, each thought before what it was thought for.
        const places = shown.map((text) => texts.indexOf(text)).filter((place) => place >= 0);
        const spoken = places.filter((place) => format.role(items[place] as ResponsesItem) !== "tool");
        expect(spoken).toEqual([...spoken].sort((a, b) => a - b));
        shown.forEach((text, at) => {
          if (view[at]?.type === "reasoning") expect(shown[at + 1]).toBe(texts[texts.indexOf(text) + 1]);
        });
        const made = new Set<string>();
        const answered: string[] = [];
        for (const item of view) {
          for (const { id } of format.toolResults(item)) {
            expect(item.type === "web_search_call" || made.has(id)).toBe(true);
            answered.push(id);
          }
          for (const { id } of format.toolCalls(item)) made.add(id);
        }
        expect(new Set(answered).size).toBe(answered.length);
        const open = [...made].filter((id) => !answered.includes(id));
        // Only what the newest answer asked may still be waiting.
        const newest = items.findLastIndex((item) => format.role(item) !== "tool");
        if (format.role(items[newest] as ResponsesItem) === "user") expect(open).toEqual([]);
      }),
    );
  });
});

describe("what a derived message covers of an answer in parts", () => {
  const parts: ResponsesItem[] = [
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
    { type: "function_call", id: "fc_1", call_id: "c", name: "t", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "ok" },
  ];

  it("stays away as a whole when what follows is taken back", async () => {
    const memory = createChatMemory({ format, profile: openaiResponses });
    const ids = await memory.add(user("a"), ...parts, user("b"), user("c"));
    await memory.compact({ through: ids[1] as string, replacement: user("So far: a.") });
    await memory.rewind(ids[5] as string);
    expect(await memory.messages()).toEqual([user("So far: a."), user("b")]);
  });

  it("stays away in a fork up to a message behind it", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store, format, profile: openaiResponses });
    const memory = memories.get("a");
    const ids = await memory.add(user("a"), ...parts, user("b"), user("c"));
    await memory.compact({ through: ids[1] as string, replacement: user("So far: a.") });
    const fork = await memories.fork("a", "b", { at: ids[4] as string });
    expect(await (fork ?? memories.get("b")).messages()).toEqual([user("So far: a."), user("b")]);
  });

  it("stays away after a summary of the window's", async () => {
    const memory = createChatMemory({
      format,
      profile: openaiResponses,
      window: { maxMessages: 5, target: 0.8, summarize: () => user("S") },
    });
    await memory.add(user("a long question"), ...parts);
    const ids = await memory.add(user("b"), user("c"));
    expect(await memory.messages()).toContainEqual(user("S"));
    await memory.rewind(ids[1] as string);
    expect(await memory.messages()).toEqual([user("S"), user("b")]);
  });
});

it.each(["keep", "throw"] as const)(
  "with unit message and overflow %s no call of the newest answer leaves without its result",
  async (overflow) => {
    const memory = createChatMemory({ format, window: { unit: "message", maxMessages: 3, overflow } });
    const newest = [call("a"), call("b"), result("a"), result("b")];
    await memory.add(user("Go."), ...newest);
    if (overflow === "keep") expect(await memory.messages()).toEqual(newest);
    else await expect(memory.messages()).rejects.toMatchObject({ details: { needed: 4, limit: 3 } });
  },
);
