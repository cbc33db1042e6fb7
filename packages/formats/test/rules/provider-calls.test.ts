import { assistant, user } from "@turnkeep/core";
import { type AnthropicMessage, anthropicFormat } from "../../src/anthropic.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../../src/openai-responses.ts";
import { describeRule } from "./describe-rule.ts";
import { half, searched } from "./samples.ts";

describeRule("provider-calls", [
  {
    breaks: "a search that another provider ran itself",
    messages: [user("a"), searched, user("c")],
    index: 1,
    refusedBy: ["openai", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
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
    breaks: "a call of Anthropic's whose input it could not read, as the AI SDK stores its error",
    messages: [
      user("a"),
      assistant([{ type: "text", text: "b" }, half("srvtoolu_1", "tool-call")]),
      { role: "tool", content: [half("srvtoolu_1", "tool-result") as never] },
      user("c"),
    ],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
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
]);

const question: AnthropicMessage = { role: "user", content: "a" };
const ran = { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: { code: "t()" } };
const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
const byCode = { type: "tool_use", id: "toolu_1", name: "t", input: {} };
const said = (...content: object[]): AnthropicMessage => ({ role: "assistant", content }) as AnthropicMessage;
const answer: AnthropicMessage = {
  role: "user",
  content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }],
};

describeRule<AnthropicMessage>(
  "provider-calls",
  [
    {
      breaks: "a call by code whose own call is gone",
      messages: [question, said({ ...byCode, caller }), answer],
      index: 1,
      refusedBy: ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "strict"],
      becomes: [question, said(byCode), answer],
    },
    {
      breaks: "only elsewhere a call by code that Anthropic runs",
      messages: [question, said(ran, { ...byCode, caller }), answer],
      index: 1,
      refusedBy: ["openai", "openai-responses", "gemini", "bedrock", "mistral", "strict"],
      becomes: [question, said(byCode), answer],
    },
  ],
  { format: anthropicFormat },
);

const item = (value: object): ResponsesItem => value as ResponsesItem;
const asked = item({ role: "user", content: "a" });
const called = { type: "function_call", call_id: "call_1", name: "t", arguments: "{}" };
const put = { type: "function_call_output", call_id: "call_1", output: "ok" };
const program = { type: "program", caller_id: "call_2" };

describeRule<ResponsesItem>(
  "provider-calls",
  [
    {
      breaks: "a call and its result that name a program which is gone",
      messages: [asked, item({ ...called, caller: program }), item({ ...put, caller: program })],
      index: 1,
      refusedBy: ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "strict"],
      becomes: [asked, item(called), item(put)],
    },
  ],
  { format: openaiResponsesFormat },
);
