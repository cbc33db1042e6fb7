import { type AnthropicMessage, anthropicFormat } from "../../src/anthropic.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../../src/openai-responses.ts";
import { describeRule } from "./describe-rule.ts";

const item = (value: object): ResponsesItem => value as ResponsesItem;
const ask = item({ role: "user", content: "a" });
const text = { type: "output_text", text: "b", annotations: [] };
const said = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [text] };
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "t", arguments: "{}" };
const result = item({ type: "function_call_output", call_id: "call_1", output: "ok" });
const refusedBy = ["openai-responses", "strict"];

describeRule<ResponsesItem>(
  "extra-members",
  [
    {
      breaks: "what the SDK read of a text",
      messages: [ask, item({ ...said, content: [{ ...text, parsed: { b: 1 } }] })],
      index: 1,
      refusedBy,
      becomes: [ask, item(said)],
    },
    {
      breaks: "what the SDK read of a call",
      messages: [ask, item({ ...call, parsed_arguments: {} }), result],
      index: 1,
      refusedBy,
      becomes: [ask, item(call), result],
    },
    {
      breaks: "who made an item",
      messages: [ask, item({ ...said, created_by: "agent" })],
      index: 1,
      refusedBy,
      becomes: [ask, item(said)],
    },
    {
      breaks: "the status of reasoning",
      messages: [ask, item({ type: "reasoning", id: "rs_1", summary: [], status: null }), item(said)],
      index: 1,
      refusedBy,
      becomes: [ask, item({ type: "reasoning", id: "rs_1", summary: [] }), item(said)],
    },
    {
      breaks: "what reasoning has not, written as null",
      messages: [
        ask,
        item({ type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: null }),
        item({ ...said, content: [{ ...text, logprobs: null }] }),
      ],
      index: 1,
      refusedBy,
      becomes: [
        ask,
        item({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: null }),
        item(said),
      ],
    },
    {
      breaks: "nothing where null is a value",
      messages: [
        ask,
        item({
          type: "code_interpreter_call",
          id: "ci_1",
          container_id: "c",
          status: "completed",
          code: null,
          outputs: null,
        }),
        item({ ...call, caller: null, status: null }),
        item({ ...result, id: null }),
      ],
      index: 1,
      refusedBy: [],
    },
    {
      breaks: "nothing that a tool put out under such a name",
      messages: [ask, item({ ...call, arguments: '{"parsed":1}' }), item({ ...result, parsed: 1 })],
      index: 1,
      refusedBy: [],
    },
  ],
  { format: openaiResponsesFormat, untold: ["anthropic"] },
);

const question: AnthropicMessage = { role: "user", content: "a" };
const answer = (block: object): AnthropicMessage =>
  ({
    role: "assistant",
    content: [
      { type: "server_tool_use", id: "srvtoolu_1", name: "bash_code_execution", input: {} },
      { type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_1", content: {}, ...block },
      { type: "text", text: "b", citations: null },
    ],
  }) as AnthropicMessage;

describeRule<AnthropicMessage>(
  "extra-members",
  [
    {
      breaks: "citations of what code put out",
      messages: [question, answer({ citations: null }), question],
      index: 1,
      refusedBy: ["anthropic", "strict"],
      becomes: [question, answer({}), question],
    },
  ],
  { format: anthropicFormat, untold: ["openai-responses"] },
);
