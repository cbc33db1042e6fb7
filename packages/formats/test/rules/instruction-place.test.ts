import { assistant, system, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { call, result } from "./samples.ts";

const note = (text: string) => user(`System note: ${text}`);
const tools = {
  role: "system" as const,
  content: "Use the tool.",
  providerOptions: { anthropic: { toolChanges: [{ type: "tool_addition", toolName: "t" }] } },
};

const effort = { role: "system" as const, content: "", providerOptions: { anthropic: { effort: "low" } } };

describeRule("instruction-place", [
  {
    breaks: "a system message behind the model's answer",
    messages: [user("a"), assistant("b"), system("Be brief."), user("c")],
    index: 2,
    refusedBy: ["anthropic", "strict"],
    becomes: [user("a"), assistant("b"), user("c"), system("Be brief.")],
  },
  {
    breaks: "a system message before the user's",
    messages: [user("a"), system("Be brief."), system("Be polite."), user("c"), assistant("d")],
    index: 1,
    refusedBy: ["anthropic", "strict"],
    becomes: [user("a"), user("c"), system("Be brief."), system("Be polite."), assistant("d")],
  },
  {
    breaks: "a second one in front",
    messages: [system("Be brief."), system("Be polite."), user("c")],
    index: 1,
    refusedBy: ["anthropic", "strict"],
    becomes: [system("Be brief."), user("c"), system("Be polite.")],
  },
  {
    breaks: "a system message between a call and its result",
    messages: [user("a"), call, system("Be brief."), result],
    index: 2,
    refusedBy: ["anthropic", "strict"],
    becomes: [user("a"), call, result, system("Be brief.")],
  },
  {
    breaks: "a system message between two answers",
    messages: [user("a"), assistant("b"), system("Be brief."), system("Be polite."), assistant("c")],
    index: 2,
    refusedBy: ["anthropic", "strict"],
    becomes: [user("a"), assistant("b"), note("Be brief.\n\nSystem note: Be polite."), assistant("c")],
  },
  {
    breaks: "one that sets something, too, between two answers",
    messages: [user("a"), assistant("b"), tools, assistant("c")],
    index: 2,
    refusedBy: ["anthropic", "strict"],
    becomes: [user("a"), assistant("b"), note("Use the tool."), { ...tools, content: "" }, assistant("c")],
  },
  {
    breaks: "one that only changes tools between two answers, where one that only sets an effort may stand",
    messages: [user("a"), assistant("b"), effort, { ...tools, content: "" }, assistant("c")],
    index: 3,
    refusedBy: ["anthropic", "strict"],
    becomes: [
      user("a"),
      assistant("b"),
      effort,
      note("The tools have changed."),
      { ...tools, content: "" },
      assistant("c"),
    ],
  },
]);
