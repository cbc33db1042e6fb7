import {
  assistant,
  type ChatMemory,
  createChatMemory,
  type MessageFormat,
  type ModelMessage,
  modelMessageFormat,
  type ToolCallPart,
  toolResult,
  user,
} from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { type LangChain4jMessage, langchain4jFormat } from "../src/langchain4j.ts";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";
import {
  anthropic,
  bedrock,
  gemini,
  mistral,
  openai,
  openaiResponses,
  type ProfileRules,
  strict,
  validate,
} from "../src/profiles.ts";

const interrupted = "The tool call was interrupted: no result was recorded.";

/** How a format writes what a conversation of calls that share ids is made of; each call and result says which it is. */
interface Writer<M> {
  readonly format: MessageFormat<M>;
  said(role: "user" | "assistant", text: string): M;
  /** One answer that makes these calls. */
  calls(calls: readonly Call[]): readonly M[];
  result(id: string, text: string): M;
  /** Results in one message, where one can hold several; with what the user says beside them, where one can hold that. */
  results?(results: readonly Call[], beside?: string): M;
}

type Call = readonly [id: string, text: string];

const model: Writer<ModelMessage> = {
  format: modelMessageFormat as MessageFormat<ModelMessage>,
  said: (role, text) => (role === "user" ? user(text) : assistant(text)),
  calls: (calls) => [
    assistant(
      calls.map(([toolCallId, input]): ToolCallPart => {
        return { type: "tool-call", toolCallId, toolName: "t", input };
      }),
    ),
  ],
  result: (id, text) => toolResult(id, "t", text),
  results: (results) => ({
    role: "tool",
    content: results.flatMap(([id, text]) => toolResult(id, "t", text).content),
  }),
};

const chat: Writer<ChatMessage> = {
  format: openaiFormat,
  said: (role, content) => ({ role, content }),
  calls: (calls) => [
    {
      role: "assistant",
      content: null,
      tool_calls: calls.map(([id, text]) => ({
        type: "function",
        id,
        function: { name: "t", arguments: text },
      })),
    },
  ],
  result: (id, content) => ({ role: "tool", tool_call_id: id, content }),
};

const responses: Writer<ResponsesItem> = {
  format: openaiResponsesFormat,
  said: (role, content) => ({ role, content }),
  calls: (calls) =>
    calls.map(([call_id, text]) => ({ type: "function_call", call_id, name: "t", arguments: text })),
  result: (call_id, output) => ({ type: "function_call_output", call_id, output }),
};

const blocks: Writer<AnthropicMessage> = {
  format: anthropicFormat,
  said: (role, content) => ({ role, content }),
  calls: (calls) => [
    { role: "assistant", content: calls.map(([id, input]) => ({ type: "tool_use", id, name: "t", input })) },
  ],
  result: (id, content) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] }),
  results: (results, beside) => ({
    role: "user",
    content: [
      ...results.map(([tool_use_id, content]) => ({ type: "tool_result" as const, tool_use_id, content })),
      ...(beside === undefined ? [] : [{ type: "text" as const, text: beside }]),
    ],
  }),
};

const java: Writer<LangChain4jMessage> = {
  format: langchain4jFormat,
  said: (role, text) =>
    role === "user" ? { type: "USER", contents: [{ type: "TEXT", text }] } : { type: "AI", text },
  calls: (calls) => [
    { type: "AI", toolExecutionRequests: calls.map(([id, text]) => ({ id, name: "t", arguments: text })) },
  ],
  result: (id, text) => ({
    type: "TOOL_EXECUTION_RESULT",
    id,
    toolName: "t",
    contents: [{ type: "TEXT", text }],
  }),
};

/** Which call an input is of, whatever a profile made of it. */
const numberIn = (input: unknown): string => JSON.stringify(input).replace(/[^\d.]/g, "");

/** The calls of a view, each with its result: by ids that are its own, else the nth of an id with the nth. */
function pairsOf<M>(view: readonly M[], format: MessageFormat<M>): string[] {
  const calls: { readonly id: string; readonly text: string; result?: string }[] = [];
  const textsOf = (message: M, place: "tool-call" | "tool-result"): string[] =>
    format
      .pieces(message)
      .flatMap((piece) => (piece.type === "text" && piece.of === place ? [piece.text] : []));
  for (const message of view) {
    const inputs = textsOf(message, "tool-call");
    for (const [at, { id }] of format.toolCalls(message).entries()) {
      calls.push({ id, text: numberIn(inputs[at]) });
    }
    const outputs = textsOf(message, "tool-result");
    for (const [at, { id }] of format.toolResults(message).entries()) {
      const call = calls.find((one) => one.id === id && one.result === undefined);
      if (call === undefined) throw new Error(`nothing asked for ${outputs[at]}`);
      call.result = outputs[at] as string;
    }
  }
  return calls.map(({ text, result }) => `${text}: ${result === interrupted ? "interrupted" : result}`);
}

const uniqueProfiles: readonly ProfileRules[] = [anthropic, bedrock, strict];

/** A memory of these messages, which are added one by one, and its view, which the profile takes. */
async function shown<M>(
  format: MessageFormat<M>,
  messages: readonly M[],
  profile: ProfileRules | undefined,
): Promise<{ readonly memory: ChatMemory<M>; readonly view: readonly M[]; readonly pairs: string[] }> {
  const memory = createChatMemory<M>({ format, profile });
  for (const message of messages) await memory.add(message);
  const view = await memory.messages();
  if (profile !== undefined) expect(validate(view, profile, { format })).toEqual([]);
  return { memory, view, pairs: pairsOf(view, format) };
}

function testWriter<M>(writer: Writer<M>, ...profiles: readonly (ProfileRules | undefined)[]): void {
  const { format, said, calls, result } = writer;
  const x = (text: string): M => result("x", text);
  const two = calls([
    ["x", "1"],
    ["x", "2"],
  ]);
  const [question, answer, next] = [said("user", "a"), said("assistant", "b"), said("user", "c")];
  const inOne = writer.results?.([
    ["x", "R1"],
    ["x", "R2"],
  ]);
  const answered = ["1: R1", "2: R2"];
  const cases: [string, readonly M[], string[]][] = [
    ["results one by one", [...two, x("R1"), x("R2"), next], answered],
    ["results in one message", [...two, ...(inOne ? [inOne] : [x("R1"), x("R2")]), next], answered],
    ["one result, and the next question", [...two, x("R1"), next], ["1: R1", "2: interrupted"]],
    ["no result, and the next question", [...two, next], ["1: interrupted", "2: interrupted"]],
    ["surplus results", [...two, x("R1"), x("R2"), x("R3"), next], answered],
    ["results before their calls", [x("R1"), x("R2"), ...two, next], answered],
    ["one result before its call", [x("R1"), ...two, x("R2"), next], answered],
    ["one result before its call, and no other", [x("R1"), ...two, next], ["1: R1", "2: interrupted"]],
    [
      "one result that came when the model had gone on",
      [...two, x("R1"), answer, x("R2"), next],
      ["1: R1", "2: interrupted"],
    ],
    [
      "an id that is used again, by one call and by several",
      [...two, x("R1"), x("R2"), ...calls([["x", "3"]]), x("R3"), ...two, x("R4"), x("R5"), next],
      [...answered, "3: R3", "1: R4", "2: R5"],
    ],
    [
      "another call between them",
      [
        ...calls([
          ["x", "1"],
          ["y", "2"],
          ["x", "3"],
        ]),
        result("y", "R2"),
        x("R1"),
        x("R3"),
        next,
      ],
      ["1: R1", "2: R2", "3: R3"],
    ],
    [
      "a shared id that no provider takes",
      [
        ...calls([
          ["appel-n°7", "1"],
          ["appel-n°7", "2"],
        ]),
        result("appel-n°7", "R1"),
        next,
      ],
      ["1: R1", "2: interrupted"],
    ],
  ];
  // The other formats refuse an empty id, or know it for none.
  if (format.name === modelMessageFormat.name) {
    const empty = calls([
      ["", "1"],
      ["", "2"],
    ]);
    cases.push(["an empty id", [...empty, result("", "R1"), result("", "R2"), next], answered]);
    cases.push([
      "an empty id, and one result",
      [...empty, result("", "R1"), next],
      ["1: R1", "2: interrupted"],
    ]);
  }
  if (writer.results !== undefined && format.resultsFirst !== undefined) {
    cases.push([
      "a result beside which the user says something, and one behind it",
      [...two, writer.results([["x", "R1"]], "and?"), x("R2"), next],
      answered,
    ]);
    cases.push([
      "a result beside which the user says something, and no other",
      [...two, writer.results([["x", "R1"]], "and?"), next],
      ["1: R1", "2: interrupted"],
    ]);
  }

  describe.each(profiles.map((profile) => [profile?.name ?? "no profile", profile] as const))(
    `${format.name} for %s`,
    (_, profile) => {
      it.each(cases)("%s", async (_, messages, pairs) => {
        expect((await shown(format, [question, ...messages], profile)).pairs).toEqual(pairs);
      });

      it("what was shown stays, whatever comes late", async () => {
        const { memory, view } = await shown(format, [question, ...two, x("R1"), next], profile);
        await memory.add(answer, x("R2"), said("user", "d"));
        expect((await memory.messages()).slice(0, view.length)).toEqual(view);
      });

      it("a result under a view's id is that of its call", async () => {
        const { memory, view } = await shown(format, [question, ...two], profile);
        const ids = view.flatMap((message) => format.toolCalls(message).map(({ id }) => id));
        await memory.add(...ids.map((id, at) => result(id, `R${at + 1}`)), next);
        expect(pairsOf(await memory.messages(), format)).toEqual(answered);
        const { messages } = await memory.history();
        const stored = messages.flatMap(({ message }) => format.toolResults(message).map(({ id }) => id));
        expect(stored).toEqual(["x", "x"]);
      });

      it("any calls and results, cut anywhere", async () => {
        const step = fc.record({
          made: fc.array(fc.constantFrom("x", "x", "y", "appel-n°7"), { minLength: 1, maxLength: 4 }),
          given: fc.array(fc.constantFrom("x", "x", "y", "appel-n°7"), { maxLength: 5 }),
          inOne: fc.boolean(),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), async (steps) => {
            const expected: string[] = [];
            const messages = steps.flatMap(({ made, given, inOne }, at): M[] => {
              const came = given
                .filter((id) => made.includes(id))
                .map((id, place): Call => [id, `R${at}.${place}`]);
              const together = inOne && came.length > 0 ? writer.results?.(came) : undefined;
              const left = [...came];
              for (const [place, id] of made.entries()) {
                const found = left.findIndex(([one]) => one === id);
                const [taken] = found < 0 ? [] : left.splice(found, 1);
                expected.push(`${at}.${place}: ${taken?.[1] ?? "interrupted"}`);
              }
              return [
                ...calls(made.map((id, place): Call => [id, `${at}.${place}`])),
                ...(together ? [together] : came.map(([id, text]) => result(id, text))),
                said("user", "go on"),
              ];
            });
            const { memory, view, pairs } = await shown(format, [question, ...messages], profile);
            expect(pairs).toEqual(expected);
            await memory.add(answer);
            expect((await memory.messages()).slice(0, view.length)).toEqual(view);
          }),
          { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 25) },
        );
      });
    },
  );
}

describe("calls of one answer that share an id", () => {
  testWriter(model, undefined, openai, gemini, mistral, ...uniqueProfiles);
  testWriter(chat, undefined, openai, gemini, mistral, ...uniqueProfiles);
  testWriter(responses, undefined, openaiResponses, ...uniqueProfiles);
  testWriter(blocks, undefined, ...uniqueProfiles);
  testWriter(java, undefined, openai, gemini, mistral, ...uniqueProfiles);

  describe.each(
    [undefined, openai, ...uniqueProfiles].map((one) => [one?.name ?? "no profile", one] as const),
  )("in one UI message for %s", (_, profile) => {
    const format = uiMessageFormat();
    const message = (...outputs: readonly (string | undefined)[]): UIMessageLike => ({
      id: "m",
      role: "assistant",
      parts: outputs.map((output, at) => {
        const call = { type: "tool-t", toolCallId: "x", input: `${at + 1}` };
        return output === undefined
          ? { ...call, state: "input-available" }
          : { ...call, state: "output-available", output };
      }),
    });
    const said = (role: "user" | "assistant", text: string): UIMessageLike => {
      const part = { type: "text", text };
      return { id: text, role, parts: [part] };
    };
    const stream = { type: "tool-t", toolCallId: "x", state: "input-streaming", input: "0" };

    it.each<[string, UIMessageLike, string[]]>([
      ["answered", message("R1", "R2"), ["1: R1", "2: R2"]],
      ["the first answered", message("R1", undefined), ["1: R1", "2: interrupted"]],
      ["the second answered", message(undefined, "R2"), ["1: interrupted", "2: R2"]],
      ["none answered", message(undefined, undefined), ["1: interrupted", "2: interrupted"]],
      [
        "behind one that still streams",
        { ...message("R1", "R2"), parts: [stream, ...message("R1", "R2").parts] },
        ["1: R1", "2: R2"],
      ],
    ])("%s", async (_, answer, pairs) => {
      const {
        memory,
        view,
        pairs: found,
      } = await shown(format, [said("user", "a"), answer, said("user", "b")], profile);
      const results = view.flatMap((one) =>
        one.parts.flatMap((part) => {
          const { state, input, output } = part as unknown as Record<string, string>;
          if (state === "output-available") return [`${numberIn(input)}: ${output}`];
          return state === "output-error" ? [`${numberIn(input)}: interrupted`] : [];
        }),
      );
      expect(results).toEqual(pairs);
      expect(found).toHaveLength(2);
      await memory.add(said("assistant", "c"));
      expect((await memory.messages()).slice(0, view.length)).toEqual(view);
    });
  });

  it("are asked for one by one", async () => {
    const approval = (approvalId: string) =>
      ({ type: "tool-approval-request", approvalId, toolCallId: "x" }) as const;
    const call = (input: string) => ({ type: "tool-call", toolCallId: "x", toolName: "t", input }) as const;
    const request = assistant([call("1"), call("2"), approval("a1"), approval("a2")]);
    const response: ModelMessage = {
      role: "tool",
      content: ["a1", "a2"].map((approvalId) => {
        return { type: "tool-approval-response", approvalId, approved: true } as const;
      }),
    };
    const { view } = await shown(model.format, [user("a"), request, response], anthropic);
    const ids = model.format.toolCalls(view[1] as ModelMessage).map(({ id }) => id);
    const asked = model.format.approvals(view[1] as ModelMessage);
    expect(asked.map((one) => one.kind === "request" && one.toolCallId)).toEqual(ids);
    expect(new Set(ids).size).toBe(2);
  });

  it("get one id, call and result alike, from a format that does not say which is which", async () => {
    const { renameCalls } = modelMessageFormat;
    const format = {
      ...(modelMessageFormat as MessageFormat<ModelMessage>),
      renameCalls: (message: ModelMessage, rename: (id: string) => string): ModelMessage =>
        renameCalls?.(message, (id) => rename(id)) as ModelMessage,
    };
    const messages = [
      user("a"),
      ...model.calls([
        ["x", "1"],
        ["x", "2"],
      ]),
      toolResult("x", "t", "R1"),
      user("b"),
    ];
    const view = anthropic.shape((await shown(format, messages, undefined)).view, format).messages;
    expect(pairsOf(view, format)).toEqual(["1: R1", "2: interrupted"]);
  });
});
