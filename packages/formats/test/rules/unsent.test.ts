import type { ChatMessage } from "../../src/openai.ts";
import { openaiFormat } from "../../src/openai.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../../src/openai-responses.ts";
import { describeRule } from "./describe-rule.ts";

const ask: ChatMessage = { role: "user", content: "a" };

describeRule<ChatMessage>(
  "unsent",
  [
    {
      breaks: "an empty list of calls beside a text",
      messages: [ask, { role: "assistant", content: "b", tool_calls: [] }, ask],
      index: 1,
      refusedBy: ["openai", "openai-responses", "strict"],
      becomes: [ask, { role: "assistant", content: "b" }, ask],
    },
    {
      breaks: "an empty list of calls and nothing else",
      messages: [ask, { role: "assistant", content: null, tool_calls: [] }, ask],
      index: 1,
      refusedBy: ["openai", "openai-responses", "strict"],
      becomes: [ask, ask],
    },
    {
      breaks: "an answer of nothing",
      messages: [ask, { role: "assistant", content: null }, ask],
      index: 1,
      refusedBy: ["openai", "openai-responses", "strict"],
      becomes: [ask, ask],
    },
  ],
  { format: openaiFormat },
);

const question: ResponsesItem = { role: "user", content: "Draw." };
const drawing = (status: "failed" | "completed", result: string | null): ResponsesItem => ({
  type: "image_generation_call",
  id: "ig_1",
  status,
  result,
});

describeRule<ResponsesItem>(
  "unsent",
  [
    {
      breaks: "an image that was not made",
      messages: [question, drawing("failed", null), question, drawing("completed", "aGk=")],
      index: 1,
      refusedBy: ["openai", "openai-responses", "strict"],
      becomes: [question, question, drawing("completed", "aGk=")],
    },
  ],
  { format: openaiResponsesFormat },
);
