import { assistant, type ModelMessage, toolResult, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { approval, callsOf, joinedResults, result, resultsOf } from "./samples.ts";

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

describeRule("results-in-order", [
  {
    breaks: "results in the order in which they came",
    messages: [user("a"), callsOf(2), toolResult("call_1", "t", "ok"), toolResult("call_0", "t", "ok")],
    index: 3,
    refusedBy: ["gemini", "strict"],
    becomes: [user("a"), callsOf(2), toolResult("call_0", "t", "ok"), toolResult("call_1", "t", "ok")],
  },
  {
    breaks: "results of one message in another order",
    messages: [user("a"), callsOf(3), joinedResults("call_2", "call_0"), toolResult("call_1", "t", "ok")],
    index: 2,
    refusedBy: ["gemini", "strict"],
    becomes: [user("a"), callsOf(3), resultsOf(3)],
  },
  {
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
]);
