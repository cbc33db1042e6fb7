import { TurnkeepError } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { quoted, wrongOption } from "@turnkeep/core/store-kit";
import type { CallStrategy, ToolAnswer } from "./assistant.ts";
import { AssistantError } from "./errors.ts";
import type { ToolCall, ToolResult } from "./messages.ts";
import { isStandardSchema, issuesText } from "./schema.ts";
import type { Setup } from "./setup.ts";
import { mayNeedApproval, type Tool, type ToolContext } from "./tool.ts";

interface Running {
  /** Called when the tool itself starts: from then on, its effects cannot be undone. */
  readonly onStart: () => void;
  /** Whether the answer was cut off after the call, so that a call without arguments may have lost them. */
  readonly isCut: boolean;
  /** Why {@link needsApproval} found the input invalid. It stays so: if it were valid now, the tool would run unasked. */
  readonly invalid?: { readonly error: unknown } | undefined;
}

/** Runs one call; what its strategies throw ends the turn. */
export async function runCall<M>(
  setup: Setup<M>,
  call: ToolCall,
  context: Omit<ToolContext, "toolCallId">,
  { onStart, isCut, invalid }: Running,
): Promise<ToolResult> {
  const { strategies, tools } = setup;
  const tool = tools.get(call.name);
  if (tool === undefined) {
    return decided(
      call,
      await decide("unknownTool", strategies.unknownTool, unknownTool(call, [...tools.keys()]), call),
    );
  }
  let input: unknown;
  try {
    if (invalid !== undefined) throw invalid.error;
    input = await givenInput(setup, call, tool, isCut);
  } catch (error) {
    const decision = await decide("invalidInput", strategies.invalidInput, error, call);
    if (typeof decision === "string" || !("input" in decision)) return decided(call, decision);
    // Nobody has approved a repaired input. The model may make the call anew.
    if (mayNeedApproval(tool)) return decided(call, { output: errorText(error) });
    try {
      input = await readInput(call, decision.input, tool);
    } catch (again) {
      return decided(call, { output: errorText(again) });
    }
  }
  try {
    onStart();
    const output = await tool.execute(input, { ...context, toolCallId: call.id });
    if (output instanceof Error) throw output;
    return resultOf(call, asJson(output), false);
  } catch (error) {
    context.signal.throwIfAborted();
    return failedCall(setup, call, error);
  }
}

/**
 * Whether the user must approve the call; not if the tool does not take its input, which is returned as `invalid`.
 * Throws what the tool's `needsApproval` throws.
 */
export async function needsApproval<M>(
  setup: Setup<M>,
  call: ToolCall,
  context: Omit<ToolContext, "toolCallId">,
  isCut: boolean,
): Promise<boolean | { readonly invalid: { readonly error: unknown } }> {
  const tool = setup.tools.get(call.name);
  if (tool === undefined || !mayNeedApproval(tool)) return false;
  let input: unknown;
  try {
    input = await givenInput(setup, call, tool, isCut);
  } catch (error) {
    return { invalid: { error } };
  }
  if (typeof tool.needsApproval !== "function") return true;
  const answer: unknown = await tool.needsApproval(input, { ...context, toolCallId: call.id });
  if (typeof answer === "boolean") return answer;
  throw wrongOption(`The result of tools[${quoted(call.name)}].needsApproval`, answer, "true or false");
}

/** Applies the strategy for failing tools to an error. */
export async function failedCall<M>(
  { strategies }: Setup<M>,
  call: ToolCall,
  error: unknown,
): Promise<ToolResult> {
  return decided(call, await decide("toolError", strategies.toolError, error, call));
}

/** What the model is told about an error. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : "The tool failed.";
  const message: unknown = error.message;
  return typeof message === "string" && message.trim() !== "" ? message : error.name;
}

async function decide<Answer>(
  name: string,
  strategy: CallStrategy<Answer>,
  error: unknown,
  call: ToolCall,
): Promise<Answer | { readonly output: string }> {
  if (strategy === "throw") throw error;
  if (strategy === "answer") return { output: errorText(error) };
  const answer = await strategy(error, call);
  if (typeof answer === "string" || (typeof answer === "object" && answer !== null)) return answer;
  throw new TurnkeepError(
    "INVALID_OPTION",
    `The function strategies.${name} must return what the model is told about the call (text, or { output }), or throw; it returned ${answer === null ? "null" : typeof answer}.`,
    { cause: error },
  );
}

function decided(call: ToolCall, answer: ToolAnswer): ToolResult {
  return typeof answer === "string"
    ? resultOf(call, answer, true)
    : resultOf(call, asJson(answer.output), answer.isError ?? true);
}

/** The result of a call that the user has denied. */
export function deniedResult(call: ToolCall, reason: string | undefined): ToolResult {
  const text = reason === undefined || reason.trim() === "" ? "." : `: ${reason}`;
  return { ...resultOf(call, `The user denied this tool call${text}`, true), isDenied: true };
}

export function resultOf({ id, name }: ToolCall, output: unknown, isError: boolean): ToolResult {
  return { toolCallId: id, toolName: name, output, isError };
}

/** The value as JSON keeps it: dates become text, unset members are left out. Throws for what JSON cannot hold. */
function asJson(output: unknown): unknown {
  if (typeof output === "string") return output;
  const text = JSON.stringify(output);
  if (text === "{}" && isEmptiedByJson(output as object)) {
    const kind = Object.prototype.toString.call(output).slice("[object ".length, -1);
    throw new TypeError(
      `The tool returned what JSON cannot hold (${kind}): return text, or plain objects and lists.`,
    );
  }
  return text === undefined ? null : JSON.parse(text);
}

/** Whether an object that JSON writes as empty is none of the plain ones, and did not say so itself: a `Map`, a stream. */
function isEmptiedByJson(output: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(output);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return !isPlain && !("toJSON" in output);
}

/** What the tool takes as the call's input. Throws `INVALID_TOOL_INPUT`. */
async function givenInput<M>(
  { messages }: Setup<M>,
  call: ToolCall,
  tool: Tool,
  isCut: boolean,
): Promise<unknown> {
  const lost = isCut ? lostInput(call, messages) : undefined;
  if (lost !== undefined) throw invalidInput(call, lost);
  return readInput(call, call.input, tool);
}

/** What the last call of an answer that was cut off has lost; `undefined` if its arguments are whole. */
export function lostInput<M>(
  { input }: ToolCall,
  { completesInputs }: Setup<M>["messages"],
): string | undefined {
  if (isNothing(input)) return "the answer was cut off before them";
  return completesInputs === true ? "the answer was cut off, perhaps within them" : undefined;
}

/** Throws `INVALID_TOOL_INPUT`. */
async function readInput(call: ToolCall, input: unknown, tool: Tool): Promise<unknown> {
  const value = parsed(call, input);
  if (!isStandardSchema(tool.inputSchema)) return value;
  const checked = await tool.inputSchema["~standard"].validate(value);
  if (checked.issues !== undefined) throw invalidInput(call, issuesText(checked.issues));
  return checked.value;
}

function isNothing(input: unknown): boolean {
  if (typeof input === "string") return input.trim() === "";
  return input === undefined || input === null || (isObject(input) && Object.keys(input).length === 0);
}

/** Parses text as JSON; no input is an empty object; some models encode the JSON twice. */
function parsed(call: ToolCall, input: unknown): unknown {
  let value = input;
  for (let times = 0; times < 2 && typeof value === "string"; times++) {
    if (value.trim() === "") return {};
    try {
      value = JSON.parse(value);
    } catch (cause) {
      throw invalidInput(call, "they are not valid JSON", cause);
    }
  }
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw invalidInput(call, "they must be a JSON object");
}

function invalidInput({ id, name }: ToolCall, problem: string, cause?: unknown): AssistantError {
  return new AssistantError(
    "INVALID_TOOL_INPUT",
    `The arguments of ${quoted(name)} are not what the tool takes: ${problem}`,
    { cause, details: { toolName: name, toolCallId: id } },
  );
}

function unknownTool({ id, name }: ToolCall, names: readonly string[]): AssistantError {
  const known = names.length === 0 ? "There are no tools." : `There are: ${names.join(", ")}.`;
  return new AssistantError("UNKNOWN_TOOL", `There is no tool ${quoted(name)}. ${known}`, {
    details: { toolName: name, toolCallId: id },
  });
}
