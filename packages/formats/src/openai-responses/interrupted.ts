import type { ToolCallRef } from "@turnkeep/core";
import type { ResponsesItem } from "./items.ts";

/** A transparent image of one pixel. */
const blank =
  "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** An item for each call, of the kind that answers it. */
export function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly ResponsesItem[] {
  return calls.map((call: ToolCallRef & { readonly type?: string }) => resultFor(call.type, call.id, text));
}

function resultFor(type: string | undefined, call_id: string, text: string): ResponsesItem {
  switch (type) {
    case "custom_tool_call":
      return { type: "custom_tool_call_output", call_id, output: text };
    case "computer_call":
      // It can hold nothing but a screenshot.
      return {
        type: "computer_call_output",
        call_id,
        output: { type: "computer_screenshot", image_url: blank },
        status: "incomplete",
      };
    case "local_shell_call":
      // The API pairs it by `call_id`, which the SDK's type lacks; the `id` that the type asks for is the API's to give.
      return {
        type: "local_shell_call_output",
        call_id,
        output: text,
        status: "incomplete",
      } as unknown as ResponsesItem;
    case "shell_call":
      return {
        type: "shell_call_output",
        call_id,
        output: [{ outcome: { type: "exit", exit_code: 1 }, stdout: "", stderr: text }],
        status: "incomplete",
      };
    case "apply_patch_call":
      return { type: "apply_patch_call_output", call_id, status: "failed", output: text };
    case "tool_search_call":
      return { type: "tool_search_output", call_id, execution: "client", tools: [], status: "incomplete" };
    default:
      return { type: "function_call_output", call_id, output: text };
  }
}
