import {
  assistant,
  type MessageFormat,
  type ModelMessage,
  modelMessageFormat,
  system,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { ConformanceError, checkFormat } from "../src/index.ts";

const picture = { type: "image", image: new Uint8Array([1, 2, 3]), mediaType: "image/png" } as const;

const samples: readonly ModelMessage[] = [
  system("You are brief."),
  user("Weather in Oslo?"),
  { role: "user", content: [{ type: "text", text: "What is this?" }, picture] },
  toolCall("call-1", "weather", { city: "Oslo", days: [1, 2] }),
  toolResult("call-1", "weather", "4 °C"),
  toolResult("call-2", "weather", { degrees: 4 }),
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "It is cold there." },
      { type: "text", text: "Let me see." },
      { type: "tool-call", toolCallId: "call-3", toolName: "search", input: {}, providerExecuted: true },
      {
        type: "tool-result",
        toolCallId: "call-3",
        toolName: "search",
        output: { type: "text", value: "found" },
      },
      { type: "tool-call", toolCallId: "call-4", toolName: "weather", input: { city: "Bergen" } },
    ],
  },
  assistant("4 °C."),
];

/** The default format with a difference. */
function formatWith(difference: Partial<MessageFormat<ModelMessage>>): MessageFormat<ModelMessage> {
  return { ...format, ...difference };
}

const format = modelMessageFormat as unknown as Required<MessageFormat<ModelMessage>>;

/** What each fault is, the fault, and the promise that it breaks. */
const faults: readonly (readonly [string, Partial<MessageFormat<ModelMessage>>, RegExp])[] = [
  [
    "loses a member",
    { decode: (text) => ({ ...format.decode(text), content: "" }) as ModelMessage },
    /comes back/,
  ],
  [
    "answers the message that it was given",
    { decode: (text) => seen(format.decode(text)), encode: (message) => remember(message) },
    /comes back/,
  ],
  ["encodes U+0000", { encode: (message) => `${format.encode(message)}\u0000` }, /any database takes/],
  ["says another version than it writes", { version: 9 }, /name and version/],
  [
    "reads a later version",
    { decode: (text) => format.decode(text.replace(/"version":\d+/, '"version":1')) },
    /later version/,
  ],
  ["has a role of its own", { role: () => "tool-caller" as "tool" }, /what a message is/],
  [
    "counts no calls",
    { pieces: (message) => format.pieces(message).filter(({ of }) => of === "content") },
    /what a message is|texts change/,
  ],
  [
    "changes no results",
    {
      mapText: (message, change) =>
        format.mapText(message, (text, of) => (of === "tool-result" ? text : change(text, of))),
    },
    /texts change/,
  ],
  [
    "copies where nothing changed",
    { mapText: (message, change) => ({ ...format.mapText(message, change) }) },
    /texts change/,
  ],
  [
    "drops a medium with the texts",
    {
      mapText: (message, change) =>
        format.without(format.mapText(message, change), { media: true }) ?? message,
    },
    /texts change/,
  ],
  [
    "renames calls and not their results",
    {
      renameCalls: (message, rename) =>
        format.renameCalls(message, (id, of) => (of === "result" ? id : rename(id, of))),
    },
    /ids are renamed/,
  ],
  [
    "renames the provider's calls",
    { renameCalls: (message, rename) => renamedAll(message, rename) },
    /ids are renamed/,
  ],
  ["renames no tools", { renameTools: (message) => message }, /tools are renamed/],
  [
    "keeps calls that were to go",
    { without: (message, { toolCalls: _, ...rest }) => format.without(message, rest) },
    /without calls/,
  ],
  [
    "keeps media",
    { without: (message, { media: _, ...rest }) => format.without(message, rest) },
    /without calls/,
  ],
  [
    "answers an empty copy",
    {
      without: (message, omission) =>
        format.without(message, omission) ?? ({ ...message, content: [] } as unknown as ModelMessage),
    },
    /without calls/,
  ],
  ["changes its argument", { isEmpty: (message) => emptied(message) }, /what a message is/],
  [
    "answers one call of two",
    { interruptedResults: (calls, text) => format.interruptedResults(calls.slice(1), text) },
    /can be answered/,
  ],
  [
    "does not say why a call has no answer",
    { interruptedResults: (calls) => format.interruptedResults(calls, "") },
    /can be answered/,
  ],
  ["loses the second of two", { joined: (first) => first }, /made and joined/],
];

const picturePart = { type: "image-data", data: "AQID", mediaType: "image/png" } as const;

/** What a format may do, and how. */
const freedoms: readonly (readonly [string, Partial<MessageFormat<ModelMessage>>])[] = [
  [
    "pairs calls that have no id by the tool's name",
    {
      toolCalls: (message) => format.toolCalls(message).map((call) => ({ ...call, id: `by ${call.name}` })),
      toolResults: (message) =>
        format.toolResults(message).map((result) => ({ ...result, id: `by ${result.name}` })),
      renameCalls: (message) => message,
    },
  ],
  [
    "knows no name of a call",
    {
      toolCalls: (message) => format.toolCalls(message).map((call) => ({ ...call, name: "" })),
      renameTools: (message) => message,
    },
  ],
  [
    "has a name of its own for a built-in tool",
    {
      toolCalls: (message) => format.toolCalls(message).map((call) => ({ ...call, name: "built-in" })),
      renameTools: (message) => message,
    },
  ],
  [
    "answers with a picture alone",
    {
      interruptedResults: (calls) =>
        calls.map(({ id, name }) => ({
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: id,
              toolName: name,
              output: { type: "content", value: [picturePart] },
            },
          ],
        })),
    },
  ],
];

let last: ModelMessage | undefined;

function remember(message: ModelMessage): string {
  last = message;
  return format.encode(message);
}

function seen(decoded: ModelMessage): ModelMessage {
  return last !== undefined && format.equals(last, decoded) ? last : decoded;
}

function renamedAll(message: ModelMessage, rename: (id: string) => string): ModelMessage {
  if (typeof message.content === "string") return message;
  const content = message.content.map((part) =>
    "toolCallId" in part ? { ...part, toolCallId: rename(part.toolCallId) } : part,
  );
  return { ...message, content } as ModelMessage;
}

function emptied(message: ModelMessage): boolean {
  const answer = format.isEmpty(message);
  (message as { role: string }).role = "user";
  return answer;
}

describe("checkFormat", () => {
  test("finds nothing in the default format", () => {
    expect(() => checkFormat(modelMessageFormat, samples)).not.toThrow();
  });

  test.each(faults)("finds a format that %s", (_, fault, promise) => {
    expect(() => checkFormat(formatWith(fault), samples)).toThrow(promise);
  });

  test.each(freedoms)("finds nothing in a format that %s", (_, freedom) => {
    expect(() => checkFormat(formatWith(freedom), samples)).not.toThrow();
  });

  test("says which promise, which sample, what was expected and what was seen, and all of them", () => {
    const format = formatWith({ role: () => "robot" as "tool", renameTools: (message) => message });
    let told = "";
    try {
      checkFormat(format, samples);
    } catch (error) {
      expect(error).toBeInstanceOf(ConformanceError);
      told = String(error);
    }
    expect(told).toContain("The format model-message breaks");
    expect(told).toMatch(/- it says what a message is; sample 0: its role: saw "robot"/);
    expect(told).toMatch(
      /- tools are renamed .*; sample 3: the name of a call: expected "weather_x", saw "weather"/,
    );
  });

  test("tries no method that is left out", () => {
    const { mapText, renameCalls, renameTools, textMessage, joined, ...least } = format;
    expect(() => checkFormat<ModelMessage>(least, samples)).not.toThrow();
  });

  test("needs samples", () => {
    expect(() => checkFormat(modelMessageFormat, [])).toThrow("needs samples");
  });
});
