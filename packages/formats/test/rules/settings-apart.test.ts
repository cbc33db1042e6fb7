import { openaiResponsesFormat, type ResponsesItem } from "../../src/openai-responses.ts";
import { describeRule } from "./describe-rule.ts";

const asked: ResponsesItem = { role: "user", content: "a" };
const effort = (level: "low" | "high"): ResponsesItem => ({
  type: "configuration_update",
  reasoning: { effort: level },
});
const text: ResponsesItem = { type: "configuration_update", text: { format: { type: "text" } } };

describeRule<ResponsesItem>(
  "settings-apart",
  [
    {
      breaks: "two updates in a row",
      messages: [asked, effort("low"), text, effort("high"), asked],
      index: 2,
      refusedBy: ["openai-responses", "strict"],
      becomes: [
        asked,
        { type: "configuration_update", reasoning: { effort: "high" }, text: { format: { type: "text" } } },
        asked,
      ],
    },
  ],
  { format: openaiResponsesFormat },
);
