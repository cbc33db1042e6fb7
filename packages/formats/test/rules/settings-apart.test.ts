import { createChatMemory, type ModelMessage, user } from "@turnkeep/core";
import { expect, it } from "vitest";
import { openaiResponsesFormat, type ResponsesItem } from "../../src/openai-responses.ts";
import { openaiResponses } from "../../src/profiles.ts";
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

const set = (level: "low" | "high", content = ""): ModelMessage => ({
  role: "system",
  content,
  providerOptions: { openai: { reasoningEffortUpdate: level } },
});

describeRule("settings-apart", [
  {
    breaks: "two updates behind one that says something",
    messages: [user("a"), set("high", "Be brief."), set("low"), set("high"), user("b")],
    index: 3,
    refusedBy: ["openai-responses", "strict"],
    becomes: [user("a"), set("high", "Be brief."), set("high"), user("b")],
  },
]);

it("settings-apart: a prompt that sets something says what it says before another setting", async () => {
  const memory = createChatMemory({ profile: openaiResponses });
  const said = [set("low", "Be brief."), set("high"), user("1")];
  await memory.add(...said);
  expect(await memory.messages()).toEqual(said);
});
