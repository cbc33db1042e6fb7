import { type ChatMiddleware, chat, type ModelMessage, maxIterations, type Tool } from "@tanstack/ai";
import { type ChatMemoryStore, createChatMemories, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { gate, until } from "@turnkeep/store-tests/gate";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { turnkeepMiddleware } from "../src/index.ts";
import {
  ask,
  both,
  calling,
  type Memories,
  memoriesOf,
  question,
  record,
  recorded,
  Scripted,
  saying,
  told,
  toolOf,
  worked,
  working,
} from "./chats.ts";

describe("a run", () => {
  it("remembers from run to run", async () => {
    const memories = memoriesOf();
    const adapter = new Scripted(saying("Hello, Ann."), saying("Ann."));
    await ask(memories, "I am Ann.", { adapter });
    await ask(memories, "Who am I?", { adapter });
    expect(adapter.prompts()[1]).toEqual(["user: I am Ann.", "assistant: Hello, Ann.", "user: Who am I?"]);
    expect(await recorded(memories)).toHaveLength(4);
  });

  it("stores the question first, an answer before its tools, and each result before the next tool", async () => {
    const memories = memoriesOf();
    const seen: string[][] = [];
    const look = async () => {
      seen.push(await recorded(memories));
      return "seen";
    };
    const adapter = new Scripted(
      { ...calling("one", "two"), text: "Let me look." },
      calling("one"),
      saying("Done."),
    );
    await ask(memories, "Look.", { adapter, tools: [toolOf("one", look), toolOf("two", look)] });
    const first = ["user: Look.", "assistant: Let me look.[one][two]"];
    expect(seen).toEqual([first, [...first, "(seen)"], [...first, "(seen)", "(seen)", "assistant: [one]"]]);
    expect(await recorded(memories)).toEqual([...(seen[2] as string[]), "(seen)", "assistant: Done."]);
    expect(adapter.prompts()[2]).toEqual([...(seen[2] as string[]), "(seen)"]);
  });

  it("stores the answer before the client is told that the run has ended", async () => {
    const memories = memoriesOf();
    const stream = chat({
      adapter: working(),
      threadId: "chat-1",
      messages: [{ role: "user", content: "Do it." }],
      tools: both,
      middleware: [turnkeepMiddleware({ memories })],
    });
    let ends = 0;
    for await (const { type } of stream) if (type === "RUN_FINISHED" && ++ends === 3) break;
    expect(ends).toBe(3);
    expect(await recorded(memories)).toEqual(["user: Do it.", ...worked]);
  });

  it("writes once a step, where the answer holds no thoughts", async () => {
    const store = inMemoryStore();
    let writes = 0;
    const counting: ChatMemoryStore = {
      ...store,
      updateMessages(...update) {
        writes++;
        return store.updateMessages(...update);
      },
    };
    // The engine says that an answer was begun before the memory says that it was given.
    vi.useFakeTimers({ toFake: ["Date"], now: 7 });
    const adapter = new Scripted(calling("first"), { ...saying("Done."), before: () => vi.setSystemTime(9) });
    await ask(memoriesOf({ maxMessages: 100 }, counting), "Do it.", { adapter, tools: both });
    vi.useRealTimers();
    expect(writes).toBe(4);
  });

  it("keeps thoughts with their signatures, ids and times, each message once", async () => {
    const memories = memoriesOf();
    const adapter = new Scripted(
      { ...calling("first"), thinking: "Hm." },
      { text: "Done.", thinking: "So." },
    );
    await ask(memories, "Do it.", { adapter, tools: both });
    const said = await record(memories);
    expect(said).toHaveLength(4);
    expect(said.map(({ thinking }) => thinking?.[0])).toEqual([
      undefined,
      { content: "Hm.", signature: "c2ln" },
      undefined,
      { content: "So.", signature: "c2ln" },
    ]);
    for (const at of [1, 3]) {
      expect(said[at]?.id).toMatch(/^answer-/);
      expect(said[at]?.createdAt).toBeInstanceOf(Date);
    }
    // The next run's model is shown them.
    await ask(memories, "Why?", { adapter: adapter });
    expect(adapter.requests[2]?.[1]?.thinking).toEqual([{ content: "Hm.", signature: "c2ln" }]);
  });

  it("answers without a stream", async () => {
    const memories = memoriesOf();
    const text = await chat({
      adapter: working(),
      threadId: "chat-1",
      messages: [{ role: "user", content: "Do it." }],
      tools: both,
      stream: false,
      middleware: [turnkeepMiddleware({ memories })],
    });
    expect(text).toContain("Done.");
    expect(await recorded(memories)).toEqual(["user: Do it.", ...worked]);
  });

  it("keeps structured output, asked for by itself or after tools, with what it was made of", async () => {
    const memories = memoriesOf();
    const answer = saying('{"degrees":4}');
    const asking = (adapter: Scripted, tools: Tool[]) =>
      chat({
        adapter,
        threadId: "chat-1",
        messages: [{ role: "user", content: "How warm?" }],
        tools,
        outputSchema: z.object({ degrees: z.number() }),
        middleware: [turnkeepMiddleware({ memories })],
      });
    const adapter = new Scripted(answer, calling("first"), saying("Done."), answer);
    expect(await asking(adapter, [])).toEqual({ degrees: 4 });
    expect(await asking(adapter, both)).toEqual({ degrees: 4 });
    const once = ["user: How warm?", 'assistant: {"degrees":4}'];
    expect(adapter.prompts()).toMatchObject([once.slice(0, 1), [...once, "user: How warm?"], {}, {}]);
    const said = await record(memories);
    expect(said.map(told).slice(0, 3)).toEqual([...once, "user: How warm?"]);
    for (const at of [1, -1]) expect(said.at(at)?.structuredOutput?.data).toEqual({ degrees: 4 });
  });

  it("tells the model of a tool that failed as TanStack does, and stores that before the next tool", async () => {
    const memories = memoriesOf();
    const seen: string[][] = [];
    const look = async () => void seen.push(await recorded(memories));
    const broken = () => {
      throw new Error("broken");
    };
    const tools = [toolOf("first", broken), toolOf("second", look)];
    const [ours, theirs] = [0, 0].map(() => new Scripted(calling("first", "second"), saying("Done.")));
    await ask(memories, "Do it.", { adapter: ours as Scripted, tools });
    const messages = [{ role: "user" as const, content: "Do it." }];
    for await (const _ of chat({ adapter: theirs as Scripted, messages, tools }));
    expect(ours?.prompts()).toEqual(theirs?.prompts());
    expect(seen[0]?.at(-1)).toBe('({"error":"broken"})');
  });

  it("stores what another middleware answers in place of a tool", async () => {
    const memories = memoriesOf();
    const skipping = { onBeforeToolCall: () => ({ type: "skip" as const, result: '{"a": 1}' }) };
    await ask(memories, "Do it.", { adapter: working(), tools: both, first: [skipping] });
    expect((await recorded(memories)).slice(0, 3)).toEqual([
      "user: Do it.",
      "assistant: [first]",
      '({"a":1})',
    ]);
  });

  it("shows as interrupted what another run has under way, and its own results", async () => {
    const memories = memoriesOf();
    const has = (line: string) => until(async () => (await recorded(memories)).includes(line));
    const ended = gate();
    const one = toolOf("one", async () => {
      await has("assistant: [slow]");
      return "one done";
    });
    const slow = toolOf("slow", async () => {
      await ended.opened;
      return "slow done";
    });
    const first = new Scripted({ ...calling("one"), before: () => has("user: Two?") }, saying("One."));
    const second = new Scripted(
      { ...calling("slow"), before: () => has("assistant: [one]") },
      saying("Two."),
    );
    const asked = ask(memories, "One?", { adapter: first, tools: [one] });
    await has("user: One?");
    const other = ask(memories, "Two?", { adapter: second, tools: [slow] });
    await asked;
    ended.open();
    await other;
    expect(first.prompts()[1]).toEqual([
      ...["user: One?", "user: Two?", "assistant: [one]", "(one done)", "assistant: [slow]"],
      expect.stringContaining("interrupted"),
    ]);
  });

  it("shows what another middleware adds to the request, and does not store it", async () => {
    const memories = memoriesOf();
    const adapter = new Scripted(saying("Yes."));
    const adding = {
      onConfig: (_: unknown, { messages }: { messages: readonly unknown[] }) => ({
        providerMessages: [...messages, question("It is Monday.")] as never,
      }),
    };
    await ask(memories, "Is it?", { adapter, first: [adding] });
    expect(adapter.prompts()).toEqual([["user: Is it?", "user: It is Monday."]]);
    expect(await recorded(memories)).toEqual(["user: Is it?", "assistant: Yes."]);
  });

  it("stores nothing twice, and no question of its own, where another middleware copies messages or sums them up", async () => {
    const copying: ChatMiddleware = {
      onConfig: (_, { messages }) => ({ messages: messages.map((message) => ({ ...message })) }),
    };
    const summing: ChatMiddleware = {
      onConfig: (_, { messages }) =>
        messages.length > 3 ? { messages: [question("In short."), ...messages.slice(-2)] } : undefined,
    };
    const past = [question("Hello"), { role: "assistant" as const, content: "Hi." }];
    for (const others of [{ first: [copying] }, { last: [copying] }, { last: [summing] }]) {
      const memories = memoriesOf();
      for (const given of [[...past, question("One?")], [question("Two?")]])
        await ask(memories, given, { adapter: working(), tools: both, ...others });
      expect(await recorded(memories)).toEqual([
        ...["user: Hello", "assistant: Hi.", "user: One?", ...worked],
        ...["user: Two?", ...worked],
      ]);
    }
  });

  it("gives models and the engine messages that they may write into", async () => {
    const memories = memoriesOf();
    const mark = (messages: readonly ModelMessage[]) => {
      for (const message of messages) Object.assign(message, { metadata: { seen: true } });
    };
    const marking = (messages: readonly ModelMessage[]) => {
      mark(messages);
      return saying("Yes.");
    };
    await ask(memories, "Good?", { adapter: new Scripted(marking) });
    const engine: ChatMiddleware = { onStart: ({ messages }) => mark(messages) };
    const adapter = new Scripted(saying("Yes."));
    await ask(memories, "Still?", { adapter, last: [engine] });
    expect(JSON.stringify([adapter.requests, await record(memories)])).not.toContain("seen");
  });

  it("keeps adapters apart that name every answer and call alike", async () => {
    const memories = memoriesOf();
    const adapter = new Scripted(
      { calls: [["first", "same"]] },
      { calls: [["first", "same"]] },
      saying("Done."),
    );
    await ask(memories, "Do it.", { adapter, tools: both });
    expect(await recorded(memories)).toEqual([
      "user: Do it.",
      ...["assistant: [first]", "(first done)", "assistant: [first]", "(first done)"],
      "assistant: Done.",
    ]);
  });
});

describe("the window", () => {
  it("shows whole steps and the question, where it would cut a call from its result", async () => {
    const memories = memoriesOf({ maxMessages: 4 });
    const adapter = new Scripted(...["a", "b", "c"].map(() => calling("first")), saying("Done."));
    await ask(memories, "Do it.", { adapter, tools: both });
    expect(adapter.prompts().map((prompt) => prompt.length)).toEqual([1, 3, 3, 3]);
    expect(adapter.prompts().every(([first]) => first === "user: Do it.")).toBe(true);
    expect(await recorded(memories)).toHaveLength(8);
  });

  it("leaves the run's messages the record", async () => {
    const memories = memoriesOf({ maxMessages: 2 });
    const seen: number[] = [];
    const looking: ChatMiddleware = { onFinish: ({ messages }) => void seen.push(messages.length) };
    for (const text of ["One?", "Two?", "Three?"]) {
      await ask(memories, text, { adapter: new Scripted(saying(`${text} Yes.`)), last: [looking] });
    }
    expect(seen).toEqual([2, 4, 6]);
  });
});

describe("an end", () => {
  it.each([
    ["stopped", "the client"],
    ["stopped", "another middleware"],
    ["failed", "the provider"],
  ])("that is %s by %s keeps what was said, and marks it", async (status, by) => {
    const memories = memoriesOf();
    const abortController = new AbortController();
    const ends = by === "the client" ? { before: () => abortController.abort() } : {};
    const fails = by === "the provider" ? { fails: new Error("away") } : {};
    const guard: ChatMiddleware = {
      onChunk(ctx, { type }) {
        if (by === "another middleware" && type === "TEXT_MESSAGE_END") ctx.abort();
      },
    };
    const adapter = new Scripted(
      calling("first"),
      { text: "A fjord is", ...ends, ...fails },
      saying("Go on."),
    );
    const run = ask(memories, "What?", { adapter, tools: both, abortController, last: [guard] });
    await (status === "failed" ? expect(run).rejects.toThrow("away") : run);
    const said = await record(memories);
    expect(said).toHaveLength(4);
    expect(said[3]).toMatchObject({ content: "A fjord is", metadata: { turnkeep: { status } } });
    await ask(memories, "And?", { adapter });
    expect(adapter.prompts()[2]).toEqual([...said.map(told), "user: And?"]);
  });

  it("that is a stop in a tool keeps each step once, unmarked", async () => {
    const memories = memoriesOf();
    const abortController = new AbortController();
    const tools = [toolOf("first", () => abortController.abort()), toolOf("second")];
    const adapter = new Scripted({ ...calling("first"), text: "Now." });
    await ask(memories, "Do it.", { adapter, tools, abortController });
    const said = await record(memories);
    expect(said.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(said[1]).toMatchObject({ content: "Now." });
    expect(said[1]?.metadata).toBeUndefined();
  });

  it("by a loop's limit keeps every step", async () => {
    const memories = memoriesOf();
    await ask(memories, "Do it.", { adapter: working(), tools: both, agentLoopStrategy: maxIterations(1) });
    expect(await recorded(memories)).toEqual(["user: Do it.", ...worked.slice(0, 2)]);
  });

  it("by a deletion, or a question that was taken back, stores nothing more", async () => {
    for (const take of ["clear", "rewind"] as const) {
      const memories = memoriesOf();
      const memory = memories.get("chat-1");
      const taking = async () => {
        const { messages } = await memory.history();
        await (take === "clear" ? memory.clear() : memory.rewind(messages[0]?.id ?? ""));
      };
      const run = ask(memories, "Do it.", { adapter: working(), tools: [toolOf("first", taking)] });
      const error = await run.catch((error: unknown) => error);
      expect(isTurnkeepError(error, "NOT_FOUND")).toBe(true);
      expect(await recorded(memories)).toEqual([]);
    }
  });
});

describe("an owner", () => {
  const running = (memories: Memories, owner: unknown, user: string, adapter: Scripted) =>
    chat({
      adapter,
      debug: false,
      threadId: "chat-1",
      messages: [{ role: "user", content: "Hello" }],
      context: { user },
      stream: false,
      middleware: [turnkeepMiddleware<{ user: string }>({ memories, owner: owner as never })],
    });

  it("of another refuses before the model is asked", async () => {
    const memories = memoriesOf();
    const adapter = new Scripted(saying("Hello, Ann."), saying("Never."));
    const owner = ({ context }: { context: { user: string } }) => context.user;
    await running(memories, owner, "ann", adapter);
    const refused = await running(memories, owner, "bob", adapter).catch((error: unknown) => error);
    expect(isTurnkeepError(refused, "OWNER_MISMATCH")).toBe(true);
    expect(adapter.requests).toHaveLength(1);
    expect(await recorded(memories)).toEqual(["user: Hello", "assistant: Hello, Ann."]);
    expect((await memories.list({ owner: "ann" })).memories).toMatchObject([{ memoryId: "chat-1" }]);
  });

  it("may be one for all, and is not forgotten", async () => {
    const memories = memoriesOf();
    await running(memories, "ann", "", new Scripted());
    expect((await memories.list({ owner: "ann" })).memories).toHaveLength(1);
    for (const owner of [undefined, () => undefined]) {
      const error = await running(memories, owner, "", new Scripted()).catch((error: unknown) => error);
      expect(isTurnkeepError(error, "INVALID_OPTION")).toBe(true);
    }
  });

  it("and the memories are checked", async () => {
    expect(() => turnkeepMiddleware({ memories: {} as never })).toThrow("createChatMemories");
    expect(() => turnkeepMiddleware({ memories: memoriesOf(), owners: "ann" } as never)).toThrow("owners");
    const others = createChatMemories({ store: inMemoryStore() }) as never;
    await expect(running(others, "ann", "", new Scripted())).rejects.toThrow("tanstackFormat");
  });
});
