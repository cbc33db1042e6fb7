import { assistant, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { approval, approvedCall, call, result } from "./samples.ts";

describeRule("answer-after-results", [
  {
    breaks: "the user's message behind results",
    messages: [user("a"), call, result, user("b")],
    index: 3,
    refusedBy: ["mistral", "strict"],
    becomes: [user("a"), call, result, assistant("(No answer was given.)"), user("b")],
  },
  {
    breaks: "the user's message behind results and an approval, which is not sent",
    messages: [user("a"), approvedCall, result, approval, user("b")],
    index: 4,
    refusedBy: ["mistral", "strict"],
    becomes: [user("a"), approvedCall, result, approval, assistant("(No answer was given.)"), user("b")],
  },
]);
