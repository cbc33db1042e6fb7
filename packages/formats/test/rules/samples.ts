import {
  assistant,
  type ModelMessage,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
  type ToolModelMessage,
  type ToolResultPart,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";

/** Messages that break rules, or stand beside those that do. */

type Call = ReturnType<typeof toolCall>;

export const call: Call = toolCall("toolu_1", "search", {});
export const otherCall: Call = toolCall("toolu_2", "search", {});
export const result: ToolModelMessage = toolResult("toolu_1", "search", "found");
export const approvedCall: ModelMessage = assistant([
  { type: "tool-call", toolCallId: "toolu_1", toolName: "search", input: {} },
  { type: "tool-approval-request", approvalId: "ok_1", toolCallId: "toolu_1" },
]);
export const approval: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "ok_1", approved: true }],
};
export const searched: { role: "assistant"; content: (TextPart | ToolCallPart | ToolResultPart)[] } =
  assistant([
    { type: "tool-call", toolCallId: "srv_1", toolName: "web_search", input: {}, providerExecuted: true },
    {
      type: "tool-result",
      toolCallId: "srv_1",
      toolName: "web_search",
      output: { type: "text", value: "x" },
    },
    { type: "text", text: "b" },
  ]);
/** A call that a provider ran itself, or its result. */
export const half = (
  id: string,
  at: "tool-call" | "tool-result",
  toolName: string = "web_search",
): ToolCallPart | ToolResultPart =>
  at === "tool-call"
    ? { type: at, toolCallId: id, toolName, input: {}, providerExecuted: true }
    : { type: at, toolCallId: id, toolName, output: { type: "text" as const, value: "x" } };
export const begun: {
  type: "custom";
  kind: "anthropic.message_start";
  providerOptions: { anthropic: { id: string } };
} = {
  type: "custom",
  kind: "anthropic.message_start",
  providerOptions: { anthropic: { id: "msg_1" } },
};
export const thought: ReasoningPart = { type: "reasoning", text: "Hm." };
export const document: ModelMessage = {
  role: "user",
  content: [{ type: "file", data: "JVBERi0=", mediaType: "application/pdf" }],
};
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `call_${index}`);
export const callsOf = (count: number): ModelMessage =>
  assistant(many(count).map((id) => ({ type: "tool-call", toolCallId: id, toolName: "t", input: {} })));

export const joinedResults = (...ids: string[]): ModelMessage => ({
  role: "tool",
  content: ids.flatMap((id) => toolResult(id, "t", "ok").content),
});

/** A call of a tool, and its result, in the place of the first two after the question. */
export const asked = (name: string, id = "toolu_1"): ModelMessage[] => [
  user("a"),
  toolCall(id, name, {}),
  toolResult(id, name, "There is no such tool.", { isError: true }),
];

export const resultsOf = (count: number): ModelMessage => joinedResults(...many(count));
