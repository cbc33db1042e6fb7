import { assistant, user } from "@turnkeep/core";
import { openaiResponsesFormat, type ResponsesItem } from "../../src/openai-responses.ts";
import { describeRule } from "./describe-rule.ts";
import { call, result, thought } from "./samples.ts";

describeRule("reasoning-alone", [
  {
    breaks: "a message of reasoning alone",
    messages: [user("a"), assistant([thought]), user("b")],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), user("b")],
  },
  {
    breaks: "reasoning that was stored apart from the answer it led to",
    messages: [user("a"), assistant([thought]), call, result],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([thought, ...call.content]), result],
  },
  {
    breaks: "reasoning behind a text that was stored apart too",
    messages: [user("a"), assistant("b"), assistant([thought]), call, result],
    index: 2,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant("b"), call, result],
  },
  {
    breaks: "reasoning that was broken off before the model was asked again",
    messages: [user("a"), assistant([thought]), assistant([thought, { type: "text", text: "b" }]), user("c")],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([thought, { type: "text", text: "b" }]), user("c")],
  },
  {
    breaks: "reasoning that was stored apart later in a conversation",
    messages: [user("a"), assistant("b"), user("c"), assistant([thought]), call, result],
    index: 3,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant("b"), user("c"), assistant([thought, ...call.content]), result],
  },
  {
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
    breaks: "an answer that was cut off while the model reasoned again",
    messages: [user("a"), assistant([thought, { type: "text", text: "b" }, thought]), user("c")],
    index: 1,
    refusedBy: ["openai-responses", "anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
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
]);

const item = (value: object): ResponsesItem => value as ResponsesItem;
const ask = item({ role: "user", content: "a" });
const thoughtOf = (id: string): ResponsesItem =>
  item({ type: "reasoning", id, summary: [], encrypted_content: "x" });
const said = item({ role: "assistant", content: "b" });
const made = item({ type: "function_call", id: "fc_1", call_id: "c", name: "t", arguments: "{}" });
const put = item({ type: "function_call_output", call_id: "c", output: "ok" });

describeRule<ResponsesItem>(
  "reasoning-alone",
  [
    {
      breaks: "reasoning of OpenAI's, and behind it an answer that was written anew",
      messages: [ask, thoughtOf("rs_1"), thoughtOf("rs_2"), said, ask],
      index: 1,
      refusedBy: ["openai-responses", "strict"],
      becomes: [ask, said, ask],
    },
    {
      breaks: "nothing where what it led to has its id",
      messages: [ask, thoughtOf("rs_1"), thoughtOf("rs_2"), made, put],
      index: 1,
      refusedBy: [],
    },
    {
      breaks: "nothing where another server made the reasoning",
      messages: [ask, thoughtOf("76f8b89e-4a41-46fb-86ae-546cc1e4ba6c"), said, ask],
      index: 1,
      refusedBy: [],
    },
  ],
  { format: openaiResponsesFormat, untold: ["anthropic", "gemini", "bedrock"] },
);
