import type { AgentInputItem } from "@openai/agents-core";

/** An item, or a part of one, of any type, known or not; its members are what the application gave. */
export interface AnyItem {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Messages may go without a type. */
export function typeOf(item: AgentInputItem | AnyItem): string {
  return typeof item.type === "string" ? item.type : "message";
}

/** What a call of ours is answered by, by the type of the call. */
const answers: ReadonlyMap<string, string> = new Map([
  ["function_call", "function_call_result"],
  ["computer_call", "computer_call_result"],
  ["shell_call", "shell_call_output"],
  ["apply_patch_call", "apply_patch_call_output"],
  ["program", "program_output"],
  ["tool_search_call", "tool_search_output"],
]);
const results: ReadonlySet<string> = new Set(answers.values());

export function isCall(type: string): boolean {
  return answers.has(type);
}

export function isResult(type: string): boolean {
  return results.has(type);
}

/** The member that joins a call and its result: tool search has the provider's spelling, too. */
export function idMember(item: AnyItem): "callId" | "call_id" | undefined {
  return (["callId", "call_id"] as const).find((member) => isName(item[member]));
}

export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
