import type { AgentInputItem } from "@openai/agents-core";
import type { ToolCallRef } from "@turnkeep/core";
import type { CallRef } from "./calls.ts";

/** A transparent image of one pixel. */
const blank =
  "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** An item for each call, of the kind that answers it. */
export function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly AgentInputItem[] {
  return calls.map((call: CallRef) => resultFor(call, text));
}

function resultFor({ type, id: callId, name }: CallRef, text: string): AgentInputItem {
  switch (type) {
    case "computer_call":
      // It can hold nothing but a screenshot.
      return { type: "computer_call_result", callId, output: { type: "computer_screenshot", data: blank } };
    case "shell_call":
      return {
        type: "shell_call_output",
        callId,
        output: [{ stdout: "", stderr: text, outcome: { type: "exit", exitCode: 1 } }],
      };
    case "apply_patch_call":
      return { type: "apply_patch_call_output", callId, status: "failed", output: text };
    case "tool_search_call":
      return { type: "tool_search_output", callId, execution: "client", status: "incomplete", tools: [] };
    default:
      return { type: "function_call_result", callId, name, status: "incomplete", output: text };
  }
}
