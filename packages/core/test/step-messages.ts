import { modelMessageFormat } from "../src/format/model-message-format.ts";
import {
  assistant,
  type MessageFormat,
  type ModelMessage,
  type ToolResultPart,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";

function result(toolCallId: string): ToolResultPart {
  return { type: "tool-result", toolCallId, toolName: "t", output: { type: "text", value: "r" } };
}

function about(id: string): ModelMessage[] {
  const request = { type: "tool-approval-request", approvalId: `ask-${id}`, toolCallId: id } as const;
  const call = { type: "tool-call", toolCallId: id, toolName: "t", input: {} } as const;
  return [
    toolCall(id, "t", {}),
    toolResult(id, "t", "r"),
    { role: "assistant", content: [call, request] },
    { role: "assistant", content: [request] },
    { role: "assistant", content: [{ ...call, providerExecuted: true }] },
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: `ask-${id}`, approved: true }] },
  ];
}

/** Results of two calls in one message. */
export const both: ModelMessage = { role: "tool", content: [result("a"), result("b")] };
/** An answer that goes on with a result of its predecessor's call. */
export const continued: ModelMessage = {
  role: "assistant",
  content: [result("a"), { type: "text", text: "!" }],
};
/** Messages that belong together in many ways, by the same few ids. */
export const messages: ModelMessage[] = [
  user("?"),
  assistant("!"),
  both,
  continued,
  ...about("a"),
  ...about("b"),
];

/** The default format, of whole answers or of answers that come as several messages. */
export function formatWith(answersInParts: boolean): MessageFormat<ModelMessage> {
  return { ...(modelMessageFormat as unknown as MessageFormat<ModelMessage>), answersInParts };
}
