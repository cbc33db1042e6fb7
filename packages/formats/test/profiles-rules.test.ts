import {
  assistant,
  createChatMemory,
  modelMessageFormat as format,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { uiMessageFormat } from "../src/ai-sdk.ts";
import * as profiles from "../src/profiles.ts";
import { characters } from "./profiles-conversations.ts";

const { validate, profileOf } = profiles;

const byName: Readonly<Record<string, profiles.ProfileRules>> = {
  openai: profiles.openai,
  "openai-responses": profiles.openaiResponses,
  anthropic: profiles.anthropic,
  gemini: profiles.gemini,
  bedrock: profiles.bedrock,
  mistral: profiles.mistral,
  strict: profiles.strict,
};

const source = "https://example.com";
const call = toolCall("toolu_1", "search", {});
const otherCall = toolCall("toolu_2", "search", {});
const result = toolResult("toolu_1", "search", "found");
const approvedCall = assistant([
  { type: "tool-call", toolCallId: "toolu_1", toolName: "search", input: {} },
  { type: "tool-approval-request", approvalId: "ok_1", toolCallId: "toolu_1" },
]);
const approval: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "ok_1", approved: true }],
};
const searched = assistant([
  { type: "tool-call", toolCallId: "srv_1", toolName: "web_search", input: {}, providerExecuted: true },
  { type: "tool-result", toolCallId: "srv_1", toolName: "web_search", output: { type: "text", value: "x" } },
  { type: "text", text: "b" },
]);
const half = (id: string, at: "tool-call" | "tool-result", toolName = "web_search") =>
  at === "tool-call"
    ? { type: at, toolCallId: id, toolName, input: {}, providerExecuted: true }
    : { type: at, toolCallId: id, toolName, output: { type: "text" as const, value: "x" } };
const begun = {
  type: "custom" as const,
  kind: "anthropic.message_start" as const,
  providerOptions: { anthropic: { id: "msg_1" } },
};
const thought = { type: "reasoning" as const, text: "Hm." };
const madeImage = { type: "file" as const, data: "aGk=", mediaType: "image/png" };
const document: ModelMessage = {
  role: "user",
  content: [{ type: "file", data: "JVBERi0=", mediaType: "application/pdf" }],
};
const named = (filename: string, text = "a"): ModelMessage => ({
  role: "user",
  content: [
    { type: "file", data: "JVBERi0=", mediaType: "application/pdf", filename },
    { type: "text", text },
  ],
});
const foundFiles: ModelMessage = {
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: "toolu_1",
      toolName: "search",
      output: {
        type: "content",
        value: [
          { type: "file-data", data: "JVBERi0=", mediaType: "application/pdf", filename: "a.pdf" },
          { type: "file-data", data: "iVBORw0KGgo=", mediaType: "image/png", filename: "a.png" },
        ],
      },
    },
  ],
};
const image = { type: "image" as const, image: "iVBORw0KGgo=", mediaType: "image/png" };
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `call_${index}`);
const callsOf = (count: number): ModelMessage =>
  assistant(many(count).map((id) => ({ type: "tool-call", toolCallId: id, toolName: "t", input: {} })));

const joinedResults = (...ids: string[]): ModelMessage => ({
  role: "tool",
  content: ids.flatMap((id) => toolResult(id, "t", "ok").content),
});
const twoApprovedCalls = assistant([
  { type: "tool-call", toolCallId: "toolu_1", toolName: "search", input: {} },
  { type: "tool-approval-request", approvalId: "ok_1", toolCallId: "toolu_1" },
  { type: "tool-call", toolCallId: "call_1", toolName: "t", input: {} },
  { type: "tool-approval-request", approvalId: "ok_2", toolCallId: "call_1" },
]);
const secondApproval: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "ok_2", approved: true }],
};

/** A call of a tool, and its result, in the place of the first two after the question. */
const asked = (name: string, id = "toolu_1"): ModelMessage[] => [
  user("a"),
  toolCall(id, name, {}),
  toolResult(id, name, "There is no such tool.", { isError: true }),
];
const withRefusedCharacters = ["openai", "openai-responses", "anthropic", "bedrock", "mistral", "strict"];

const resultsOf = (count: number): ModelMessage => joinedResults(...many(count));

interface Case {
  readonly rule: profiles.RuleName;
  readonly breaks: string;
  readonly messages: readonly ModelMessage[];
  /** The index that `validate` names. */
  readonly index: number;
  /** Who refuses it, and by this rule. */
  readonly refusedBy: readonly string[];
  /** What the profile makes of it, without the rules that the profile has beside this one; absent: it cannot. */
  readonly becomes?: readonly ModelMessage[];
  /** How much there is of what may be less. */
  readonly exceeds?: number;
}

const everybody = Object.keys(byName);
const cases: readonly Case[] = [
  { rule: "not-empty", breaks: "no message", messages: [], index: 0, refusedBy: everybody, becomes: [] },
  {
    rule: "not-empty",
    breaks: "a system message alone",
    messages: [system("Be brief.")],
    index: 0,
    refusedBy: everybody,
    becomes: [system("Be brief.")],
  },
  {
    rule: "tool-results",
    breaks: "a call without its result",
    messages: [user("a"), call, user("b")],
    index: 1,
    refusedBy: everybody,
  },
  {
    rule: "tool-results",
    breaks: "a call at the end without its result",
    messages: [user("a"), call],
    index: 1,
    refusedBy: everybody,
  },
  {
    rule: "tool-results",
    breaks: "a result without its call",
    messages: [user("a"), result],
    index: 1,
    refusedBy: everybody,
  },
  {
    rule: "tool-results",
    breaks: "a result twice",
    messages: [user("a"), call, result, result],
    index: 3,
    refusedBy: everybody,
  },
  {
    rule: "tool-results",
    breaks: "a message between a call and its result",
    messages: [user("a"), call, user("b"), result],
    index: 1,
    refusedBy: everybody,
  },
  {
    rule: "tool-results",
    breaks: "two answers with calls before the results of both",
    messages: [user("a"), call, otherCall, joinedResults("toolu_1", "toolu_2")],
    index: 1,
    // It joins the two.
    refusedBy: everybody.filter((name) => name !== "anthropic"),
  },
  {
    rule: "tool-results",
    breaks: "an approved call that has not run when the user goes on",
    messages: [user("a"), approvedCall, approval, user("b")],
    index: 1,
    refusedBy: everybody,
  },
  {
    rule: "tool-results",
    breaks: "an approval last of a call that is not there",
    messages: [user("a"), call, approval],
    index: 1,
    refusedBy: everybody,
  },
  {
    rule: "provider-calls",
    breaks: "a search that another provider ran itself",
    messages: [user("a"), searched, user("c")],
    index: 1,
    refusedBy: ["openai", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "provider-calls",
    breaks: "a provider's search alone, and its result in another message",
    messages: [
      user("a"),
      assistant([searched.content[0] as never]),
      assistant([searched.content[1] as never, { type: "text", text: "b" }]),
      user("c"),
    ],
    index: 1,
    refusedBy: ["openai", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "provider-calls",
    breaks: "code that Anthropic ran, under the name of a tool of Gemini's",
    messages: [
      user("a"),
      assistant([
        half("srvtoolu_1", "tool-call", "code_execution"),
        half("srvtoolu_1", "tool-result", "code_execution"),
        { type: "text", text: "b" },
      ]),
      user("c"),
    ],
    index: 1,
    refusedBy: ["openai", "openai-responses", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "provider-calls",
    breaks: "a search of Anthropic's that was cut off before the user said more",
    messages: [
      user("a"),
      assistant([{ type: "text", text: "b" }, half("srvtoolu_1", "tool-call")]),
      user("c"),
      assistant([half("srvtoolu_1", "tool-result"), { type: "text", text: "d" }]),
      user("e"),
    ],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [
      user("a"),
      assistant([{ type: "text", text: "b" }]),
      user("c"),
      assistant([{ type: "text", text: "d" }]),
      user("e"),
    ],
  },
  {
    rule: "provider-calls",
    breaks: "a search of Anthropic's without which the model went on",
    messages: [
      user("a"),
      assistant([{ type: "text", text: "b" }, half("srvtoolu_1", "tool-call")]),
      assistant("c"),
    ],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), assistant("c")],
  },
  {
    rule: "provider-calls",
    breaks: "what Anthropic found by a call that has left",
    messages: [
      user("a"),
      assistant([half("srvtoolu_1", "tool-result"), { type: "text", text: "b" }]),
      user("c"),
    ],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "provider-calls",
    breaks: "code that Gemini ran",
    messages: [
      user("a"),
      assistant([
        half("Zk3p9QxVbN1aT7Lw", "tool-call", "code_execution"),
        half("Zk3p9QxVbN1aT7Lw", "tool-result", "code_execution"),
        { type: "text", text: "b" },
      ]),
      user("c"),
    ],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "results-in-order",
    breaks: "results in the order in which they came",
    messages: [user("a"), callsOf(2), toolResult("call_1", "t", "ok"), toolResult("call_0", "t", "ok")],
    index: 3,
    refusedBy: ["gemini", "strict"],
    becomes: [user("a"), callsOf(2), toolResult("call_0", "t", "ok"), toolResult("call_1", "t", "ok")],
  },
  {
    rule: "results-in-order",
    breaks: "results of one message in another order",
    messages: [user("a"), callsOf(3), joinedResults("call_2", "call_0"), toolResult("call_1", "t", "ok")],
    index: 2,
    refusedBy: ["gemini", "strict"],
    becomes: [user("a"), callsOf(3), resultsOf(3)],
  },
  {
    rule: "results-in-order",
    breaks: "results in another order with approvals beside and between them",
    messages: [
      user("a"),
      twoApprovedCalls,
      {
        role: "tool",
        content: [...approval.content, ...toolResult("call_1", "t", "ok").content],
      } as ModelMessage,
      secondApproval,
      toolResult("toolu_1", "search", "found"),
      user("b"),
    ],
    index: 4,
    refusedBy: ["gemini", "strict"],
    becomes: [
      user("a"),
      twoApprovedCalls,
      {
        role: "tool",
        content: [approval, result, secondApproval, toolResult("call_1", "t", "ok")].flatMap(
          ({ content }) => content as never[],
        ),
      },
      user("b"),
    ],
  },
  {
    rule: "system-first",
    breaks: "a system message behind others",
    messages: [user("a"), system("Be brief.")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [system("Be brief."), user("a")],
  },
  {
    rule: "first-message",
    breaks: "the model's message first",
    messages: [system("Be brief."), assistant("Hello"), user("a")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [system("Be brief."), user("Here is our conversation so far."), assistant("Hello"), user("a")],
  },
  {
    rule: "first-message",
    breaks: "a call before everything else",
    messages: [call, result],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("Here is our conversation so far."), call, result],
  },
  {
    rule: "first-message",
    breaks: "a call behind the system message",
    messages: [system("Be brief."), call, result],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [system("Be brief."), user("Here is our conversation so far."), call, result],
  },
  {
    rule: "last-message",
    breaks: "the model's answer last",
    messages: [user("a"), assistant("b")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant("b"), user("Please continue.")],
  },
  {
    rule: "last-message",
    breaks: "the model's answer to what its provider found last",
    messages: [user("a"), searched],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), searched, user("Please continue.")],
  },
  {
    rule: "last-message",
    breaks: "code that Gemini ran last",
    messages: [
      user("a"),
      assistant([half("1", "tool-call", "code_execution"), half("1", "tool-result", "code_execution")]),
    ],
    index: 1,
    refusedBy: ["gemini", "bedrock", "mistral", "strict"],
    becomes: [
      user("a"),
      assistant([half("1", "tool-call", "code_execution"), half("1", "tool-result", "code_execution")]),
      user("Please continue."),
    ],
  },
  {
    rule: "same-role",
    breaks: "results in two messages",
    messages: [user("a"), callsOf(2), toolResult("call_0", "t", "ok"), toolResult("call_1", "t", "ok")],
    index: 3,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), callsOf(2), resultsOf(2)],
  },
  {
    rule: "same-role",
    breaks: "two messages of the user",
    messages: [user("a"), user("b")],
    index: 1,
    refusedBy: ["gemini", "bedrock", "strict"],
    becomes: [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
    ],
  },
  {
    rule: "answer-after-results",
    breaks: "the user's message behind results",
    messages: [user("a"), call, result, user("b")],
    index: 3,
    refusedBy: ["mistral", "strict"],
    becomes: [user("a"), call, result, assistant("(No answer was given.)"), user("b")],
  },
  {
    rule: "answer-after-results",
    breaks: "the user's message behind results and an approval, which is not sent",
    messages: [user("a"), approvedCall, result, approval, user("b")],
    index: 4,
    refusedBy: ["mistral", "strict"],
    becomes: [user("a"), approvedCall, result, approval, assistant("(No answer was given.)"), user("b")],
  },
  {
    rule: "empty-text",
    breaks: "an empty text beside another",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "text", text: "a" },
        ],
      },
    ],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [{ role: "user", content: [{ type: "text", text: "a" }] }],
  },
  {
    rule: "empty-text",
    breaks: "an empty text that brings a thought signature of Gemini's",
    messages: [
      user("a"),
      assistant([
        { type: "text", text: "b" },
        { type: "text", text: "", providerOptions: { google: { thoughtSignature: "s" } } },
      ]),
      user("c"),
    ],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "empty-text",
    breaks: "an empty message of the user",
    messages: [user("")],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("(An empty message.)")],
  },
  {
    rule: "empty-text",
    breaks: "a message of the user without a part",
    messages: [{ role: "user", content: [] }],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("(An empty message.)")],
  },
  {
    rule: "empty-text",
    breaks: "an empty message of the model",
    messages: [user("a"), assistant(""), user("b")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), user("b")],
  },
  {
    rule: "empty-text",
    breaks: "a text of blanks",
    messages: [user(" \n")],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("(An empty message.)")],
  },
  {
    rule: "empty-text",
    breaks: "an answer of which the AI SDK kept but that it began",
    messages: [user("a"), assistant([begun]), user("b")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), user("b")],
  },
  {
    rule: "error-text",
    breaks: "a tool that failed and said nothing",
    messages: [user("a"), call, toolResult("toolu_1", "search", "", { isError: true })],
    index: 2,
    refusedBy: ["anthropic", "strict"],
    becomes: [
      user("a"),
      call,
      toolResult("toolu_1", "search", "The tool failed and said nothing.", { isError: true }),
    ],
  },
  {
    rule: "call-ids",
    breaks: "an id of 65 characters",
    messages: [user("a"), toolCall("x".repeat(65), "t", {}), toolResult("x".repeat(65), "t", "ok")],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), toolCall("b0bgbi8qf", "t", {}), toolResult("b0bgbi8qf", "t", "ok")],
  },
  {
    rule: "call-ids",
    breaks: "an id of 41 characters",
    messages: [user("a"), toolCall("x".repeat(41), "t", {}), toolResult("x".repeat(41), "t", "ok")],
    index: 1,
    refusedBy: ["openai", "mistral", "strict"],
    becomes: [user("a"), toolCall("qzqxwa253", "t", {}), toolResult("qzqxwa253", "t", "ok")],
  },
  {
    rule: "call-ids",
    breaks: "an id with a colon",
    messages: [user("a"), toolCall("search:0", "t", {}), toolResult("search:0", "t", "ok")],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), toolCall("yc4vcn3o3", "t", {}), toolResult("yc4vcn3o3", "t", "ok")],
  },
  {
    rule: "call-ids",
    breaks: "an id of which a small number is made",
    messages: [user("a"), toolCall("search:58", "t", {}), toolResult("search:58", "t", "ok")],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), toolCall("0cf3foyfc", "t", {}), toolResult("0cf3foyfc", "t", "ok")],
  },
  {
    rule: "call-ids",
    breaks: "an id that is used again",
    messages: [
      user("a"),
      toolCall("abcDEF123", "t", {}),
      toolResult("abcDEF123", "t", "ok"),
      toolCall("abcDEF123", "t", {}),
      toolResult("abcDEF123", "t", "ok"),
    ],
    index: 3,
    refusedBy: ["anthropic", "bedrock", "strict"],
    becomes: [
      user("a"),
      toolCall("abcDEF123", "t", {}),
      toolResult("abcDEF123", "t", "ok"),
      toolCall("uqxt6gx29", "t", {}),
      toolResult("uqxt6gx29", "t", "ok"),
    ],
  },
  {
    rule: "call-ids",
    breaks: "an id with a colon beside the one that would be made of it",
    messages: [
      user("a"),
      toolCall("search:0", "t", {}),
      toolResult("search:0", "t", "ok"),
      toolCall("yc4vcn3o3", "t", {}),
      toolResult("yc4vcn3o3", "t", "ok"),
    ],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [
      user("a"),
      toolCall("g11tgqw1s", "t", {}),
      toolResult("g11tgqw1s", "t", "ok"),
      toolCall("yc4vcn3o3", "t", {}),
      toolResult("yc4vcn3o3", "t", "ok"),
    ],
  },
  {
    rule: "tool-names",
    breaks: "a tool's name with a dot",
    messages: asked("functions.weather"),
    index: 1,
    refusedBy: withRefusedCharacters,
    becomes: asked("functions_weather"),
  },
  {
    rule: "tool-names",
    breaks: "a tool's name with a blank, an emoji and a half of one",
    messages: asked("weather 🌧\ud83c"),
    index: 1,
    refusedBy: [...everybody],
    becomes: asked("weather____"),
  },
  {
    rule: "tool-names",
    breaks: "an empty name of a tool",
    messages: asked(""),
    index: 1,
    refusedBy: [...everybody],
    becomes: asked("_"),
  },
  {
    rule: "tool-names",
    breaks: "a tool's name of 65 characters",
    messages: asked("x".repeat(65)),
    index: 1,
    refusedBy: ["openai", "bedrock", "mistral", "strict"],
    becomes: asked("x".repeat(64)),
  },
  {
    rule: "tool-names",
    breaks: "a tool's name of 129 characters",
    messages: asked("x".repeat(129)),
    index: 1,
    refusedBy: [...everybody],
    becomes: asked("x".repeat(64)),
  },
  {
    rule: "tool-names",
    breaks: "a tool's name of 64 characters that begins with a digit",
    messages: asked(`7${"x".repeat(63)}`),
    index: 1,
    refusedBy: ["gemini", "strict"],
    becomes: asked(`_7${"x".repeat(62)}`),
  },
  {
    rule: "tool-names",
    breaks: "a tool's name that the result alone bears",
    messages: [user("a"), call, toolResult("toolu_1", "search!", "found")],
    index: 2,
    refusedBy: [...everybody],
    becomes: [user("a"), call, toolResult("toolu_1", "search_", "found")],
  },
  {
    rule: "reasoning",
    breaks: "reasoning",
    messages: [user("a"), assistant([thought, { type: "text", text: "b" }]), user("c")],
    index: 1,
    refusedBy: ["openai", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "reasoning-alone",
    breaks: "a message of reasoning alone",
    messages: [user("a"), assistant([thought]), user("b")],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), user("b")],
  },
  {
    rule: "reasoning-alone",
    breaks: "reasoning that was stored apart from the answer it led to",
    messages: [user("a"), assistant([thought]), call, result],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([thought, ...call.content]), result],
  },
  {
    rule: "reasoning-alone",
    breaks: "reasoning behind a text that was stored apart too",
    messages: [user("a"), assistant("b"), assistant([thought]), call, result],
    index: 2,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant("b"), call, result],
  },
  {
    rule: "reasoning-alone",
    breaks: "reasoning that was broken off before the model was asked again",
    messages: [user("a"), assistant([thought]), assistant([thought, { type: "text", text: "b" }]), user("c")],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([thought, { type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "reasoning-alone",
    breaks: "reasoning that was stored apart later in a conversation",
    messages: [user("a"), assistant("b"), user("c"), assistant([thought]), call, result],
    index: 3,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant("b"), user("c"), assistant([thought, ...call.content]), result],
  },
  {
    rule: "reasoning-alone",
    breaks: "reasoning without a text of its own at an answer's end",
    messages: [
      user("a"),
      assistant([
        { type: "text", text: "b" },
        { type: "reasoning", text: "" },
      ]),
      user("c"),
    ],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "reasoning-alone",
    breaks: "an answer that was cut off while the model reasoned again",
    messages: [user("a"), assistant([thought, { type: "text", text: "b" }, thought]), user("c")],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "reasoning-alone",
    breaks: "a call with reasoning and an empty text behind it",
    messages: [
      user("a"),
      assistant([...call.content, thought, { type: "text", text: "" }]),
      result,
      user("c"),
    ],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([...call.content, { type: "text", text: "" }]), result, user("c")],
  },
  {
    rule: "document-names",
    breaks: "two documents of one name but for its extension and case",
    messages: [
      named("report.pdf"),
      assistant("b"),
      named("Report.docx"),
      assistant("b"),
      named("report.pdf"),
    ],
    index: 2,
    refusedBy: ["bedrock", "strict"],
    becomes: [
      named("report.pdf"),
      assistant("b"),
      named("(2) Report.docx"),
      assistant("b"),
      named("(3) report.pdf"),
    ],
  },
  {
    rule: "document-names",
    breaks: "two documents of one name as far as a provider reads it",
    messages: [named(`${"a".repeat(200)}1.pdf`), assistant("b"), named(`${"a".repeat(200)}2.pdf`)],
    index: 2,
    refusedBy: ["bedrock", "strict"],
    becomes: [named(`${"a".repeat(200)}1.pdf`), assistant("b"), named(`(2) ${"a".repeat(200)}2.pdf`)],
  },
  {
    rule: "document-names",
    breaks: "a document of the name of a tool's",
    messages: [user("a"), call, foundFiles, assistant("b"), named("a.pdf")],
    index: 4,
    refusedBy: ["bedrock", "strict"],
    becomes: [user("a"), call, foundFiles, assistant("b"), named("(2) a.pdf")],
  },
  {
    rule: "answer-files",
    breaks: "an image that the model made",
    messages: [user("a"), assistant([{ type: "text", text: "b" }, madeImage]), user("c")],
    index: 1,
    refusedBy: ["bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    rule: "document-with-text",
    breaks: "a document without a text",
    messages: [document],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    becomes: [
      {
        role: "user",
        content: [
          { type: "file", data: "JVBERi0=", mediaType: "application/pdf" },
          { type: "text", text: "(A file is attached.)" },
        ],
      },
    ],
  },
  {
    rule: "document-with-text",
    breaks: "a document beside a text of blanks",
    messages: [{ role: "user", content: [document.content[0] as never, { type: "text", text: " " }] }],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    becomes: [
      {
        role: "user",
        content: [
          document.content[0] as never,
          { type: "text", text: " " },
          { type: "text", text: "(A file is attached.)" },
        ],
      },
    ],
  },
  {
    rule: "messages",
    breaks: "2,049 messages",
    messages: Array.from({ length: 2049 }, () => user("a")),
    index: 2048,
    refusedBy: ["openai", "strict"],
    exceeds: 2049,
  },
  {
    rule: "calls",
    breaks: "129 calls in a message",
    messages: [user("a"), callsOf(129), resultsOf(129)],
    index: 1,
    refusedBy: ["openai", "strict"],
    exceeds: 129,
  },
  {
    rule: "text-length",
    breaks: "a text of 10,485,761 characters",
    messages: [user("a".repeat(10_485_761))],
    index: 0,
    refusedBy: ["openai", "strict"],
    exceeds: 10_485_761,
  },
  {
    rule: "images",
    breaks: "21 images in a message",
    messages: [{ role: "user", content: Array.from({ length: 21 }, () => image) }],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    exceeds: 21,
  },
  {
    rule: "documents",
    breaks: "six documents in a message",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          ...Array.from({ length: 6 }, () => document.content[0] as never),
        ],
      },
    ],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    exceeds: 6,
  },
];

const limits = ["messages", "calls", "text-length", "images", "documents"];

describe.each(cases.map((one) => [`${one.rule}: ${one.breaks}`, one] as const))("%s", (_, one) => {
  it("is named by validate for those who refuse it, and for no other", () => {
    const refusing = Object.entries(byName).flatMap(([name, profile]) => {
      const found = validate(one.messages, profile, { format }).find(({ rule }) => rule === one.rule);
      if (found !== undefined)
        expect(found).toMatchObject({ index: one.index, problem: expect.stringMatching(/\w/) });
      return found === undefined ? [] : [name];
    });
    expect(refusing).toEqual(one.refusedBy);
  });

  it("becomes what they take, or a clear error", async () => {
    for (const name of one.refusedBy) {
      const rule = byName[name]?.rules.find((candidate) => candidate.rule === one.rule);
      const alone = profileOf(name, rule === undefined ? [] : [rule]);
      if (one.rule === "tool-results") {
        const memory = createChatMemory({ profile: alone });
        await memory.add(...one.messages);
        const view = await memory.messages();
        expect(view).toContainEqual(user("a"));
        expect(validate(view, alone, { format })).toEqual([]);
      } else if (one.becomes === undefined) {
        expect(limits).toContain(one.rule);
        expect(() => alone.shape(one.messages, format)).toThrow(
          expect.objectContaining({
            code: "WINDOW_OVERFLOW",
            message: expect.stringContaining(name),
            details: { limit: expect.any(Number), needed: one.exceeds },
          }),
        );
      } else {
        const shaped = alone.shape(one.messages, format);
        expect(shaped.messages).toEqual(one.becomes);
        expect(shaped.stages.map(({ name }) => name)).toEqual(one.rule === "not-empty" ? [] : [one.rule]);
      }
    }
  });
});

it.each([null, undefined, 5, {}, { role: "human", content: "a" }, { role: "user", content: [null] }])(
  "%j is no message, and INVALID_MESSAGE",
  (message) => {
    const messages = [user("a"), message as ModelMessage];
    expect(() => validate(messages, profiles.openai, { format })).toThrow(
      expect.objectContaining({ code: "INVALID_MESSAGE" }),
    );
  },
);

it("names each call and each result whose id is refused", () => {
  const messages = [user("a"), toolCall("search:0", "t", {}), toolResult("search:0", "t", "ok")];
  expect(validate(messages, profiles.bedrock, { format })).toMatchObject([
    { rule: "call-ids", index: 1, problem: expect.stringContaining("call's id") },
    { rule: "call-ids", index: 2, problem: expect.stringContaining("result's id") },
  ]);
});

it("names each call and each result whose tool's name is refused", () => {
  expect(validate(asked("a b", "abcDEF123"), profiles.mistral, { format })).toMatchObject([
    { rule: "tool-names", index: 1, problem: expect.stringContaining("call's tool") },
    { rule: "tool-names", index: 2, problem: expect.stringContaining("result's tool") },
  ]);
});

it("gives a new name to the tool of a call that is refused, and to nothing beside it", () => {
  const own = { ...half("srvtoolu_1", "tool-call", "web search"), input: {} };
  const found = half("srvtoolu_1", "tool-result", "web search");
  const made = { type: "tool-call" as const, toolCallId: "toolu_1", toolName: "a b", input: {} };
  const messages = [
    ...asked("search", "toolu_0"),
    assistant([own, found, made]),
    toolResult("toolu_1", "a b", "no"),
    assistant([found, { type: "text", text: "c" }]),
    assistant([half("srvtoolu_gone", "tool-result", "web search"), { type: "text", text: "d" }]),
  ];
  const named = profileOf("named", [{ rule: "tool-names", pattern: /^[a-z_]+$/, source }]);
  const shaped = named.shape(messages, format).messages;
  expect(shaped[3]).toEqual(assistant([own, found, { ...made, toolName: "a_b" }]));
  expect(shaped[4]).toEqual(toolResult("toolu_1", "a_b", "no"));
  for (const index of [0, 1, 2, 5, 6]) expect(shaped[index]).toBe(messages[index]);
  expect(validate(shaped, named, { format })).toEqual([]);
  const { renameTools: _, ...unable } = format;
  expect(named.shape([user("a"), assistant([own, found])], unable).stages).toEqual([]);
  const bare = profileOf("bare", [{ rule: "tool-names", pattern: /^[a-z]+$/, source }]);
  expect(bare.shape(asked("a b"), format).messages).toEqual(asked("a_b"));
});

it("leaves the names that the provider takes beside one that it refuses", () => {
  const calls = (...names: string[]) =>
    assistant(
      names.map((toolName, at) => ({ type: "tool-call", toolCallId: `call_${at}`, toolName, input: {} })),
    );
  const view = profiles.gemini.shape([user("a"), calls("mcp:pay.now", "a b", "x".repeat(128))], format);
  expect(view.messages[1]).toEqual(calls("mcp:pay.now", "a_b", "x".repeat(128)));
});

it("tells calls of tools that came to one name apart by their ids", () => {
  const calls = assistant(
    ["a.b", "a b"].map((toolName, at) => ({
      type: "tool-call",
      toolCallId: `call_${at}`,
      toolName,
      input: {},
    })),
  );
  const messages = [user("a"), calls, toolResult("call_0", "a.b", "1"), toolResult("call_1", "a b", "2")];
  const view = profiles.openai.shape(messages, format).messages;
  expect(view.slice(2)).toEqual([toolResult("call_0", "a_b", "1"), toolResult("call_1", "a_b", "2")]);
  expect(validate(view, profiles.openai, { format })).toEqual([]);
});

it("memory keeps the name that the model made up, and explain says what changed it in the view", async () => {
  const memory = createChatMemory({ profile: profiles.bedrock });
  const messages = asked("functions.weather");
  await memory.add(...messages);
  expect(await memory.messages()).toEqual(asked("functions_weather"));
  expect((await memory.history()).messages.map(({ message }) => message)).toEqual(messages);
  expect((await memory.explain()).messages.map(({ state, by }) => [state, by])).toEqual([
    ["shown", undefined],
    ["repaired", "tool-names"],
    ["repaired", "tool-names"],
  ]);
});

it("a call of a tool that a model made up is interrupted under the name that it is shown under", async () => {
  const memory = createChatMemory({ profile: profiles.gemini });
  await memory.add(...asked("weather now").slice(0, 2), user("b"));
  const view = await memory.messages();
  expect(view[1]).toEqual(toolCall("toolu_1", "weather_now", {}));
  expect(format.toolResults(view[2] as ModelMessage)).toEqual([{ id: "toolu_1", name: "weather_now" }]);
});

it("names a call without a result before a message that answers another and calls again", () => {
  const { content } = toolResult("a", "t", "ok");
  const again = assistant([...content, ...toolCall("c", "t", {}).content] as never);
  const calls = assistant([...toolCall("a", "t", {}).content, ...toolCall("b", "t", {}).content]);
  const messages = [user("a"), calls, again, toolResult("c", "t", "ok")];
  expect(validate(messages, profiles.openai, { format })).toMatchObject([{ rule: "tool-results", index: 1 }]);
});

it("names a call that shares its id with another, where there is one result for both", () => {
  const calls = assistant([...toolCall("a", "t", {}).content, ...toolCall("a", "t", {}).content] as never);
  const result = toolResult("a", "t", "ok");
  const rulesOf = (...results: ModelMessage[]) =>
    validate([user("a"), calls, ...results], profiles.openai, { format }).map(({ rule, index }) => [
      rule,
      index,
    ]);
  expect(rulesOf(result)).toEqual([["tool-results", 1]]);
  expect(rulesOf(result, result)).toEqual([]);
  expect(rulesOf(result, result, result)).toEqual([["tool-results", 4]]);
});

it("says that an answer comes first, or that one with calls does", () => {
  const problems = (profile: profiles.ProfileRules) =>
    validate([call, result, user("a")], profile, { format }).flatMap(({ rule, problem }) =>
      rule === "first-message" ? [problem] : [],
    );
  expect(problems(profiles.gemini)).toEqual(["the first message is not the user's"]);
  expect(problems(profiles.mistral)).toEqual(["the first message makes calls"]);
});

it("gives a new id to what is refused, and to nothing beside it", () => {
  const own = toolCall("srv:1", "look", {});
  const [part] = own.content as [object];
  const run = assistant([{ ...part, providerExecuted: true } as never, { type: "text", text: "b" }]);
  const messages = [run, toolCall("abc", "t", {}), toolResult("abc", "t", "ok"), toolCall("a:c", "t", {})];
  const short = profileOf("short", [{ rule: "call-ids", pattern: /^[a-z0-9]+$/, unique: true, source }]);
  const shaped = short.shape(messages, format).messages;
  for (const index of [0, 1, 2]) expect(shaped[index]).toBe(messages[index]);
  expect(validate(shaped, short, { format })).toEqual([]);
});

it("tells a provider's own calls by their names alone, where the profile says so", () => {
  const rule: profiles.ProviderRule = { rule: "provider-calls", own: { name: /^web_/ }, source };
  const local = profileOf("local", [rule]);
  const found = (name: string) =>
    assistant([half("1", "tool-call", name), half("1", "tool-result", name), { type: "text", text: "b" }]);
  expect(validate([user("a"), found("web_search")], local, { format })).toEqual([]);
  expect(validate([user("a"), found("search")], local, { format })).toMatchObject([{ index: 1 }]);
});

it("every rule of every profile has a case that its provider refuses", () => {
  const reasoningOfMemory = ["anthropic", "bedrock"];
  for (const [name, profile] of Object.entries(byName)) {
    expect(profile.name).toBe(name);
    for (const { rule, source } of profile.rules) {
      expect(source).toMatch(/^https:\/\//);
      const isTold = cases.some((one) => one.rule === rule && one.refusedBy.includes(name));
      // What binds reasoning to its beginning is no property of a list: profiles-reasoning.test.ts.
      const isOfMemory = rule === "reasoning" && reasoningOfMemory.includes(name);
      // The default format has no message of both: profiles-formats.test.ts.
      const isOfFormat = rule === "results-first";
      const isLong = name === "anthropic" && rule === "messages";
      expect(isTold || isOfMemory || isOfFormat || isLong, `${name}: ${rule}`).toBe(true);
    }
  }
});

it("a list that nobody refuses stays as it is, message for message", () => {
  const messages = [
    system("Be brief."),
    user("a"),
    toolCall("abcDEF123", "t", {}),
    toolResult("abcDEF123", "t", "ok"),
    assistant("b"),
    user("c"),
  ];
  for (const profile of Object.values(byName)) {
    const shaped = profile.shape(messages, format);
    expect(shaped.stages).toEqual([]);
    for (const [index, message] of shaped.messages.entries()) expect(message).toBe(messages[index]);
  }
});

it("strict refuses whatever another refuses", () => {
  for (const one of cases) {
    if (one.refusedBy.length > 0) expect(one.refusedBy, one.breaks).toContain("strict");
  }
  const own = new Set(profiles.strict.rules.map(({ rule }) => rule));
  for (const { rules } of Object.values(byName)) for (const { rule } of rules) expect(own).toContain(rule);
});

it("nothing is put before a provider's own compaction, and nothing before it is shown", async () => {
  const compaction: ModelMessage = assistant([
    { type: "text", text: "So far: 1.", providerOptions: { anthropic: { type: "compaction" } } },
  ]);
  for (const profile of [profiles.anthropic, profiles.strict]) {
    const memory = createChatMemory({ profile });
    await memory.add(system("Be brief."), user("1"), assistant("a"), compaction, user("2"));
    const view = await memory.messages();
    expect(view).toEqual([system("Be brief."), compaction, user("2")]);
    expect(validate(view, profile, { format })).toEqual([]);
  }
});

it("a call without a result is interrupted in its place, before the result of a later call", async () => {
  for (const profile of [profiles.gemini, profiles.strict]) {
    const memory = createChatMemory({ profile });
    const calls = callsOf(3);
    await memory.add(user("a"), calls, toolResult("call_2", "t", "ok"), toolResult("call_1", "t", "ok"));
    await memory.add(user("b"));
    const results = (await memory.messages()).flatMap((message) => format.toolResults(message));
    const asked = format.toolCalls((await memory.messages())[1] as ModelMessage);
    expect(results.map(({ id }) => id)).toEqual(asked.map(({ id }) => id));
  }
});

it("a memory evicts what is more than a request may hold, without a window of its own", async () => {
  const memory = createChatMemory({ profile: profileOf("small", [{ rule: "messages", limit: 3, source }]) });
  for (const text of ["1", "2", "3", "4"]) await memory.add(user(text));
  expect(await memory.messages()).toEqual([user("2"), user("3"), user("4")]);
});

describe("a memory whose profile wants the user's message first", () => {
  const opening = user("Here is our conversation so far.");

  it.each([
    ["whole turns", profiles.anthropic, [user("2"), assistant("b"), user("3")]],
    ["steps, for another", profiles.openai, [assistant("a"), user("2"), assistant("b"), user("3")]],
  ])("evicts %s", async (_, profile, view) => {
    const memory = createChatMemory({ profile, window: { maxTokens: 100, counter: characters } });
    await memory.add(user("1".repeat(99)), assistant("a"), user("2"), assistant("b"), user("3"));
    expect(await memory.messages()).toEqual(view);
  });

  it("shows what the model said before the user came", async () => {
    const memory = createChatMemory({ profile: profiles.anthropic, window: { maxMessages: 40 } });
    await memory.add(system("Be brief."), assistant("Where do you live?"), user("Oslo"));
    expect(await memory.messages()).toEqual([
      system("Be brief."),
      opening,
      assistant("Where do you live?"),
      user("Oslo"),
    ]);
  });

  it("shows the steps before a late question, and lets the oldest go where it is to be smaller", async () => {
    const memory = createChatMemory({ profile: profiles.gemini });
    for (let index = 0; index < 10; index++) {
      await memory.add(
        toolCall(`call_${index}`, "look", {}),
        toolResult(`call_${index}`, "look", "x".repeat(50)),
      );
    }
    await memory.add(user("What have you found?"));
    expect(await memory.messages()).toHaveLength(1 + 20 + 1);
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 21 });
    const { messages } = await memory.history({ states: ["live"] });
    expect(messages.length).toBeLessThan(21);
  });
});

it.each<[string, () => unknown, RegExp]>([
  [
    "a rule that there is not",
    () => profileOf("x", [{ rule: "first", source: "" } as never]),
    /"x".*"first"/,
  ],
  ["rules that are no list", () => profileOf("x", "not-empty" as never), /an array of rules/],
  ["a profile without a name", () => profileOf([] as never, [] as never), /takes a profile's name/],
  ["an empty name", () => profileOf("", []), /takes a profile's name/],
  ["nothing in a rule's place", () => profileOf("x", [null as never]), /"x" has null among its rules/],
  ["a rule without a name", () => profileOf("x", [{ source } as never]), /"x" has a rule undefined/],
  [
    "a rule that there is already",
    () => profileOf("x", [...profiles.openai.rules, { rule: "messages", limit: 9, source }]),
    /the rule "messages" twice: filter out the one/,
  ],
  [
    "a rule without its source",
    () => profileOf("x", [{ rule: "not-empty" } as never]),
    /"not-empty" whose source is undefined; it must be a text/,
  ],
  [
    "a limit in words",
    () => profileOf("x", [{ rule: "images", limit: "20", source } as never]),
    /"images" whose limit is "20"; it must be a non-negative integer/,
  ],
  [
    "a limit below nothing",
    () => profileOf("x", [{ rule: "calls", limit: -1, source }]),
    /"calls" whose limit is -1/,
  ],
  [
    "a pattern in words",
    () => profileOf("x", [{ rule: "call-ids", pattern: "a+", unique: true, source } as never]),
    /whose pattern is "a\+"; it must be a regular expression/,
  ],
  [
    "a pattern that begins where it stopped the last time",
    () => profileOf("x", [{ rule: "call-ids", pattern: /a+/g, unique: true, source }]),
    /whose pattern is \/a\+\/g; it must be .* without the flags g and y/,
  ],
  [
    "a pattern of names that is none",
    () => profileOf("x", [{ rule: "tool-names", source } as never]),
    /"tool-names" whose pattern is undefined; it must be a regular expression/,
  ],
  [
    "names that are to be unique",
    () => profileOf("x", [{ rule: "tool-names", pattern: /a/, unique: true, source } as never]),
    /"tool-names" with "unique"; it takes pattern, source/,
  ],
  [
    "another one",
    () => profileOf("x", [{ rule: "provider-calls", own: { id: /a+/y }, source }]),
    /whose own is an object; it must be .* without the flags g and y/,
  ],
  [
    "own calls by what they are not told by",
    () => profileOf("x", [{ rule: "provider-calls", own: { type: /a/ }, source } as never]),
    /whose own is an object; it must be an object of name and id/,
  ],
  [
    "roles that are none",
    () => profileOf("x", [{ rule: "same-role", roles: ["human"], source } as never]),
    /whose roles is a list; it must be an array of "system", "user", "assistant", "tool"/,
  ],
  [
    "a field that there is not",
    () => profileOf("x", [{ rule: "last-message", pause: true, source } as never]),
    /"last-message" with "pause"; it takes paused, source/,
  ],
  [
    "another kind of reasoning",
    () => profileOf("x", [{ rule: "reasoning", kept: "some", source } as never]),
    /whose kept is "some"; it must be "none" or "bound"/,
  ],
  [
    "a list without its format",
    () => validate([], profiles.openai, {} as never),
    /needs the messages' format/,
  ],
  [
    "a list with nothing beside its profile",
    () => validate([], profiles.openai, undefined as never),
    /needs the messages' format/,
  ],
  [
    "a profile's name in its place",
    () => validate([], "openai" as never, { format }),
    /a profile, such as openai, not a string/,
  ],
  [
    "a misspelt option",
    () => validate([], profiles.openai, { format, formats: format } as never),
    /^validate's third argument .*"formats"/,
  ],
  [
    "no list of messages",
    () => validate("[]" as never, profiles.openai, { format }),
    /a list of messages, not a string/,
  ],
])("%s is INVALID_OPTION", (_, call, message) => {
  expect(call).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(message) }),
  );
});

it("shows no provider that an answer began, since some of the AI SDK's packages throw at it", async () => {
  const ui = uiMessageFormat();
  for (const profile of [
    profiles.anthropic,
    profiles.gemini,
    profiles.bedrock,
    profiles.mistral,
    profiles.strict,
  ]) {
    const memory = createChatMemory({ profile });
    await memory.add(user("a"), assistant([begun, { type: "text", text: "b" }]), user("c"));
    expect(JSON.stringify(await memory.messages())).not.toContain("message_start");
    const shown = createChatMemory({ format: ui, profile });
    const { providerOptions: providerMetadata, ...part } = begun;
    const parts = [
      { ...part, providerMetadata },
      { type: "text", text: "b" },
    ] as never;
    await shown.add(
      { id: "1", role: "user", parts: [{ type: "text", text: "a" }] as never },
      { id: "2", role: "assistant", parts },
      { id: "3", role: "user", parts: [{ type: "text", text: "c" }] as never },
    );
    expect(JSON.stringify(await shown.messages())).not.toContain("message_start");
  }
});

it("leaves out what OpenAI ran with the reasoning that led to it", async () => {
  const reasoning = (id: string) => ({
    type: "reasoning" as const,
    text: "",
    providerOptions: { openai: { itemId: id } },
  });
  const memory = createChatMemory({ profile: profiles.openaiResponses });
  const cutOff = [
    reasoning("rs_1"),
    half("ws_1", "tool-call"),
    half("ws_1", "tool-result"),
    reasoning("rs_2"),
  ];
  await memory.add(user("a"), assistant(cutOff), user("b"));
  expect(await memory.messages()).toEqual([user("a"), user("b")]);
});

it("of answers that a provider joins, each call needs its result all the same", () => {
  const messages = [user("a"), call, assistant("And"), otherCall, result, user("b")];
  expect(validate(messages, profiles.anthropic, { format })).toMatchObject([
    { rule: "tool-results", index: 3 },
  ]);
});

it("explaining a view tells what a provider takes too much of", async () => {
  const memory = createChatMemory({ profile: profiles.openai });
  await memory.add(user("a"), callsOf(129), resultsOf(129));
  await expect(memory.messages()).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
  expect((await memory.explain()).overflow).toEqual({ needed: 129, limit: 128 });
});
