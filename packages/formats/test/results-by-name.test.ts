import {
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  isTurnkeepError,
  type MessageFormat,
  type WindowOptions,
} from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convert } from "../src/convert.ts";
import { type GeminiContent, geminiConversion, geminiFormat } from "../src/gemini.ts";
import { type LangChain4jMessage, langchain4jConversion, langchain4jFormat } from "../src/langchain4j.ts";
import { type OllamaMessage, ollamaConversion, ollamaFormat } from "../src/ollama.ts";
import { type ChatMessage, openaiConversion } from "../src/openai.ts";
import { gemini, openai, validate } from "../src/profiles.ts";
import { allProfiles } from "./all-profiles.ts";

type Call = readonly [name: string, id?: string];
type Result = readonly [name: string, text: string, id?: string];

/** How a format says the same. */
interface Words<M> {
  readonly format: MessageFormat<M>;
  readonly toOpenai: (messages: readonly M[]) => readonly ChatMessage[];
  user(text: string): M;
  asks(...calls: Call[]): M;
  results(...results: Result[]): M[];
}

const withId = (id: string | undefined) => (id === undefined ? {} : { id });

const words = {
  gemini: {
    format: geminiFormat,
    toOpenai: (messages) => convert(messages, { from: geminiConversion, to: openaiConversion }).messages,
    user: (text) => ({ role: "user", parts: [{ text }] }),
    asks: (...calls) => ({
      role: "model",
      parts: calls.map(([name, id]) => ({ functionCall: { ...withId(id), name, args: {} } })),
    }),
    results: (...results) => [
      {
        role: "user",
        parts: results.map(([name, output, id]) => ({
          functionResponse: { ...withId(id), name, response: { output } },
        })),
      },
    ],
  } satisfies Words<GeminiContent>,
  ollama: {
    format: ollamaFormat,
    toOpenai: (messages) => convert(messages, { from: ollamaConversion, to: openaiConversion }).messages,
    user: (content) => ({ role: "user", content }),
    asks: (...calls) => ({
      role: "assistant",
      content: "",
      tool_calls: calls.map(([name, id]) => ({ ...withId(id), function: { name, arguments: {} } })),
    }),
    results: (...results) =>
      results.map(([tool_name, content, id]) => ({
        role: "tool",
        content,
        tool_name,
        ...(id && { tool_call_id: id }),
      })),
  } satisfies Words<OllamaMessage>,
  langchain4j: {
    format: langchain4jFormat,
    toOpenai: (messages) => convert(messages, { from: langchain4jConversion, to: openaiConversion }).messages,
    user: (text) => ({ type: "USER", contents: [{ type: "TEXT", text }] }),
    asks: (...calls) => ({
      type: "AI",
      toolExecutionRequests: calls.map(([name, id]) => ({ ...withId(id), name, arguments: "{}" })),
    }),
    results: (...results) =>
      results.map(([toolName, text, id]) => ({
        type: "TOOL_EXECUTION_RESULT",
        ...withId(id),
        toolName,
        contents: [{ type: "TEXT", text }],
      })),
  } satisfies Words<LangChain4jMessage>,
};

function cases<M>({ format, user, asks, results, toOpenai }: Words<M>): void {
  const shownOf = async (messages: readonly M[], profile = openai): Promise<readonly M[]> => {
    const memory = createChatMemory<M>({ format, profile });
    await memory.add(...(messages as M[]));
    return memory.messages();
  };
  const idsOf = (messages: readonly M[]) => ({
    calls: messages.flatMap((message) => format.toolCalls(message)).map(({ id }) => id),
    results: messages.flatMap((message) => format.toolResults(message)).map(({ id }) => id),
  });
  const said = [
    user("a"),
    asks(["weather", "1"], ["time", "2"], ["weather", "3"]),
    ...results(["weather", "rain"], ["weather", "sun"], ["time", "noon"]),
    user("b"),
  ];

  it("shows a result that bears no id with the id of its tool's first open call", async () => {
    const shown = await shownOf(said);
    expect(JSON.stringify(shown)).not.toContain("interrupted");
    expect(idsOf(shown)).toEqual({ calls: ["1", "2", "3"], results: ["1", "3", "2"] });
    for (const text of ["rain", "sun", "noon"]) expect(JSON.stringify(shown)).toContain(text);
    expect(validate(said, openai, { format })).toEqual([]);
  });

  it("shows one that bears an id without it where its call has none", async () => {
    const list = [
      user("a"),
      asks(["weather"], ["time", "2"]),
      ...results(["time", "noon", "2"], ["weather", "rain", "9"]),
    ];
    const shown = await shownOf([...list, user("b")]);
    expect(JSON.stringify(shown)).not.toContain("interrupted");
    expect(idsOf(shown)).toEqual({ calls: ["tool weather", "2"], results: ["2", "tool weather"] });
    expect(validate(list, openai, { format })).toEqual([]);
  });

  it("gives one that bears no id the call whose id another did not bear", async () => {
    const shown = await shownOf([
      user("a"),
      asks(["weather", "1"], ["weather"]),
      ...results(["weather", "rain", "9"], ["weather", "sun"]),
      user("b"),
    ]);
    expect(JSON.stringify(shown)).not.toContain("interrupted");
    expect(idsOf(shown)).toEqual({ calls: ["1", "tool weather"], results: ["tool weather", "1"] });
  });

  it("tells calls that share an id by their order, in one answer and in two", async () => {
    const twice = [
      user("a"),
      asks(["weather", "1"], ["weather", "1"]),
      ...results(["weather", "rain"], ["weather", "sun"]),
    ];
    const again = [...twice, user("b"), asks(["weather", "1"]), ...results(["weather", "fog"]), user("c")];
    const shown = await shownOf(again, gemini);
    expect(JSON.stringify(shown)).not.toContain("interrupted");
    const { calls, results: answered } = idsOf(shown);
    expect(answered).toEqual(calls);
    expect(new Set(calls.slice(0, 2)).size).toBe(2);
  });

  describe("calls of several tools that share an id", () => {
    const shared = asks(["weather", "1"], ["time", "1"]);
    /** The tools of a view's calls and, for each call, what came under its id and its tool's name. */
    const answersIn = (view: readonly M[]): [tool: string, answer: string | undefined][] => {
      const calls: { readonly id: string; readonly name: string; answer?: string }[] = [];
      let newest: typeof calls = [];
      for (const message of view) {
        const made = format.toolCalls(message).map((call) => ({ ...call }));
        if (made.length > 0) newest = made;
        calls.push(...made);
        const texts = format
          .pieces(message)
          .flatMap((piece) => (piece.type === "text" && piece.of === "tool-result" ? [piece.text] : []));
        for (const [at, { id, name }] of format.toolResults(message).entries()) {
          const call = newest.find((one) => one.id === id && one.name === name && one.answer === undefined);
          if (call !== undefined) call.answer = texts[at]?.replace(/^.*interrupted.*$/, "interrupted") ?? "";
        }
      }
      return calls.map(({ name, answer }) => [name, answer]);
    };

    it.each([undefined, ...allProfiles].map((profile) => [profile?.name ?? "no profile", profile] as const))(
      "are answered by what their own tools gave back, for %s",
      async (_, profile) => {
        const memory = createChatMemory<M>({ format, profile });
        await memory.add(
          ...[user("a"), shared, ...results(["time", "noon", "1"], ["weather", "rain", "1"]), user("b")],
          ...[shared, ...results(["time", "night", "1"]), user("c")],
          ...[shared, ...results(["weather", "sun"], ["time", "dawn"]), user("d")],
        );
        const view = await memory.messages();
        expect(answersIn(view)).toEqual([
          ["weather", "rain"],
          ["time", "noon"],
          ["weather", "interrupted"],
          ["time", "night"],
          ["weather", "sun"],
          ["time", "dawn"],
        ]);
        if (profile !== undefined) expect(validate(view, profile, { format })).toEqual([]);
      },
    );

    it.each([undefined, ...allProfiles].map((profile) => [profile?.name ?? "no profile", profile] as const))(
      "are, whatever came and in whatever order, for %s",
      async (_, profile) => {
        const made = fc.record({
          call: fc.tuple(fc.constantFrom("weather", "time", "map"), fc.constantFrom("1", "1", "2", "a.b")),
          came: fc.option(fc.nat(99), { nil: undefined }),
        });
        const answer = fc.array(made, { minLength: 1, maxLength: 4 });
        await fc.assert(
          fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 3 }), async (answers) => {
            const memory = createChatMemory<M>({ format, profile });
            const expected: [tool: string, answer: string][] = [];
            await memory.add(user("a"));
            for (const [nth, calls] of answers.entries()) {
              /** By tool and id; of calls that share both, the first are those that are answered. */
              const texts = new Map<string, string[]>();
              const came = calls.flatMap(({ call, came: at }, place) =>
                at === undefined ? [] : [{ call, at, place }],
              );
              const given = came
                .sort((a, b) => a.at - b.at)
                .map(({ call: [tool, id], place }): Result => {
                  const text = `${nth}.${place}`;
                  texts.set(`${tool},${id}`, [...(texts.get(`${tool},${id}`) ?? []), text]);
                  return [tool, text, id];
                });
              for (const { call } of calls)
                expected.push([call[0], texts.get(String(call))?.shift() ?? "interrupted"]);
              await memory.add(
                asks(...calls.map(({ call }) => call)),
                ...(given.length > 0 ? results(...given) : []),
                user("b"),
              );
            }
            const view = await memory.messages();
            expect(answersIn(view)).toEqual(expected);
            if (profile !== undefined) expect(validate(view, profile, { format })).toEqual([]);
          }),
          { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 40) },
        );
      },
    );
  });

  it("still says that a call was interrupted where no result came", async () => {
    const shown = await shownOf([
      user("a"),
      asks(["weather", "1"], ["weather", "2"]),
      ...results(["weather", "rain"]),
      user("b"),
    ]);
    expect(JSON.stringify(shown).split("interrupted")).toHaveLength(2);
    expect(idsOf(shown).results).toEqual(["1", "2"]);
  });

  it("keeps what was added as it is, and adds a repeated result once", async () => {
    const memories = createChatMemories<M>({ store: inMemoryStore(), format });
    const [question, asked, answer] = [
      user("a"),
      asks(["weather", "1"]),
      results(["weather", "rain"])[0] as M,
    ];
    const memory = await memories.get("m");
    await memory.add(question, asked, entry(answer, { id: "r" }));
    await memory.add(entry(answer, { id: "r" }));
    expect((await memory.entries()).map(({ message }) => message)).toEqual([question, asked, answer]);
    expect((await memory.history()).messages.map(({ message }) => message)).toEqual([
      question,
      asked,
      answer,
    ]);
  });

  it("finds the call again once that was replaced, and in a fork", async () => {
    const memories = createChatMemories<M>({ store: inMemoryStore(), format });
    const memory = await memories.get("m");
    await memory.add(
      user("a"),
      entry(asks(["weather", "1"]), { id: "c" }),
      ...results(["weather", "rain"]),
      user("b"),
    );
    await memory.put("c", asks(["weather", "2"]));
    expect(idsOf(await memory.messages())).toEqual({ calls: ["2"], results: ["2"] });
    const fork = await memories.fork("m", "n");
    expect(idsOf(await (fork ?? (await memories.get("n"))).messages())).toEqual({
      calls: ["2"],
      results: ["2"],
    });
  });

  it("is removed with its call, also from history", async () => {
    const memory = createChatMemory<M>({ format, window: { maxMessages: 1, unit: "message" } });
    const ids = await memory.add(...(said as M[]));
    const [, , answer] = ids as [string, string, string];
    expect(await memory.remove(answer)).toEqual(ids.slice(1, -1));
    expect((await memory.history()).messages.map(({ message }) => message)).toEqual([user("a"), user("b")]);
  });

  it("is removed from a long history as cheaply as one that bears its id", async () => {
    const inner = inMemoryStore();
    let lookups = 0;
    const store = {
      ...inner,
      getHistory: (...given: Parameters<typeof inner.getHistory>) => {
        lookups++;
        return inner.getHistory(...given);
      },
    };
    const lookupsFor = async (id: string, ...given: readonly [id?: string]): Promise<number> => {
      const memory = createChatMemory<M>({ id, store, format, window: { maxMessages: 1, unit: "message" } });
      await memory.add(...Array.from({ length: 500 }, () => user("a")));
      const asked = asks(["weather", "1"], ["time", "2"]);
      const answers = [...results(["weather", "rain", ...given]), ...results(["time", "noon", "2"])];
      const [call, answer, other] = (await memory.add(asked, ...answers, user("b"))) as string[];
      lookups = 0;
      expect(await memory.remove(answer as string)).toEqual([call, answer, other]);
      return lookups;
    };
    expect(await lookupsFor("without")).toBe(await lookupsFor("with", "1"));
  });

  it("under an id that no call has finds an earlier call, once the newer answer was removed", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory<M>({ id: "m", store, format });
    await memory.add(
      ...[asks(["weather"]), user("a"), entry(asks(["weather"]), { id: "newer" })],
      ...results(["weather", "rain"]),
      ...results(["weather", "sun", "1"]),
    );
    await memory.remove("newer");
    const shown = await memory.messages();
    expect(JSON.stringify(shown)).toContain("sun");
    expect(shown).toEqual(await createChatMemory<M>({ id: "m", store, format }).messages());
  });

  it("whatever is done, the memory that did it shows what one shows that reads anew", async () => {
    const which = fc.nat(12);
    const message = fc.constantFrom<M>(
      ...[user("a"), user("b"), asks(["weather"]), asks(["weather", "1"], ["time", "2"], ["weather", "1"])],
      ...results(["weather", "rain"]),
      ...results(["time", "noon", "9"]),
      ...results(["weather", "sun", "1"]),
    );
    const act = fc.oneof(
      { weight: 8, arbitrary: fc.record({ call: fc.constant("add" as const), which, message }) },
      {
        weight: 5,
        arbitrary: fc.record({
          call: fc.constantFrom("put", "remove", "rewind", "shrink", "restore"),
          which,
          message,
        }),
      },
    );
    const window = fc.constantFrom<WindowOptions<M> | undefined>(
      undefined,
      { maxMessages: 3, overflow: "keep" },
      { maxMessages: 4, unit: "turn", target: 0.5, overflow: "keep" },
      { maxMessages: 3, unit: "message" },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 14 }), window, async (acts, window) => {
        const store = inMemoryStore();
        const open = () => createChatMemory<M>({ id: "m", store, format, window });
        const memory = open();
        const ids: string[] = [];
        for (const { call, which, message } of acts) {
          const id = ids[which % Math.max(1, ids.length)] ?? "nobody's";
          const done =
            call === "add"
              ? memory.add(message)
              : call === "put"
                ? memory.put(id, message)
                : call === "shrink"
                  ? memory.shrink()
                  : memory[call](id);
          const come: unknown = await done.catch((error: unknown) => {
            if (!isTurnkeepError(error)) throw error;
          });
          if (call === "add" && Array.isArray(come)) ids.push(...(come as string[]));
          expect(await memory.messages()).toEqual(await open().messages());
          expect(await memory.entries()).toEqual(await open().entries());
        }
      }),
    );
  });

  it("leaves memory with its call", async () => {
    const memory = createChatMemory<M>({ format, window: { maxMessages: 2, unit: "step" } });
    for (const message of said) await memory.add(message);
    expect(await memory.messages()).toEqual([user("b")]);
  });

  it("is converted with its call", () => {
    const converted = toOpenai(said);
    const calls = converted.flatMap((message) => ("tool_calls" in message ? (message.tool_calls ?? []) : []));
    const answers = converted.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : []));
    expect(calls.map(({ id }) => id)).toEqual(["1", "2", "3"]);
    expect(answers).toEqual(["1", "3", "2"]);
  });
}

describe("Gemini contents", () => {
  cases<GeminiContent>(words.gemini);

  it("answer no call twice, whether their results bear ids or not", async () => {
    const { user, asks, results } = words.gemini;
    const memory = createChatMemory<GeminiContent>({ format: geminiFormat, profile: gemini });
    await memory.add(
      user("a"),
      asks(["weather"], ["weather", "2"], ["weather"]),
      ...results(["weather", "rain", "9"], ["weather", "sun"], ["weather", "fog"]),
      user("b"),
    );
    const shown = await memory.messages();
    expect(JSON.stringify(shown)).not.toContain("interrupted");
    const responses = shown
      .flatMap(({ parts }) => parts ?? [])
      .flatMap((part) => part.functionResponse ?? []);
    expect(responses.map(({ id, response }) => [id, response])).toEqual([
      [undefined, { output: "rain" }],
      ["2", { output: "sun" }],
      [undefined, { output: "fog" }],
    ]);
  });
});
describe("Ollama messages", () => cases<OllamaMessage>(words.ollama));
describe("LangChain4j messages", () => cases<LangChain4jMessage>(words.langchain4j));
