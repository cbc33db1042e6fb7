import { TurnkeepError } from "@turnkeep/core";
import { checkInteger, checkObject, checkTimeout, quoted, wrongOption } from "@turnkeep/core/store-kit";
import type { AssistantPolicy, Strategies } from "./assistant.ts";
import type { AssistantMessages } from "./messages.ts";
import type { Model, ToolDefinition } from "./model.ts";
import { isStandardSchema, type JsonSchema } from "./schema.ts";
import { mayNeedApproval, type Tool, type Tools } from "./tool.ts";

/** An assistant's options, checked and with every default in place. */
export interface Setup<M> {
  readonly model: Model<M>;
  readonly messages: AssistantMessages<M>;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly definitions: readonly ToolDefinition[];
  readonly systemMessage: AssistantPolicy<M>["systemMessage"];
  readonly maxRoundTrips: number;
  readonly toolConcurrency: number;
  readonly strategies: { readonly [Name in keyof Strategies]-?: NonNullable<Strategies[Name]> };
  readonly busy: "reject" | "enqueue";
  readonly timeoutMs: number | undefined;
  readonly onAbort: "keep" | "discard";
  readonly keepFailedTurns: boolean;
}

const strategyNames: readonly (keyof Strategies)[] = [
  "toolError",
  "invalidInput",
  "unknownTool",
  "tooManyRoundTrips",
];

const messageMethods = ["system", "user", "assistant", "text", "toolCalls", "toolResult"] as const;

/** Not a list, a `Map` or a promise: those would have no tools in them, and nobody would notice. */
function isTable(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && !(Symbol.iterator in value) && !(value instanceof Promise)
  );
}

/** Errors: `INVALID_OPTION`, naming the option, its value and what it must be. */
export function setupOf<M>(policy: AssistantPolicy<M>, messages: AssistantMessages<M>): Setup<M> {
  const { model, tools = {}, maxRoundTrips = 100, toolConcurrency = 4, busy = "enqueue" } = policy;
  const { toolError = "answer", invalidInput = "answer", unknownTool = "answer" } = policy.strategies ?? {};
  const { tooManyRoundTrips = "throw" } = policy.strategies ?? {};
  const { timeoutMs, onAbort = "keep", keepFailedTurns = false } = policy;
  if (typeof model !== "function")
    throw wrongOption("model", model, "an async function, or what an adapter makes");
  if (!isTable(tools)) throw wrongOption("tools", tools, "an object of tools by their names");
  for (const method of messageMethods) {
    if (typeof messages[method] === "function") continue;
    throw wrongOption(`messages.${method}`, messages[method], "a function");
  }
  if (typeof policy.systemMessage === "string") checkNotBlank(policy.systemMessage);
  checkObject("strategies", policy.strategies ?? {}, strategyNames);
  checkInteger("maxRoundTrips", maxRoundTrips, 0);
  checkInteger("toolConcurrency", toolConcurrency, 1);
  checkOneOf("busy", busy, ["reject", "enqueue"]);
  checkOneOf("strategies.tooManyRoundTrips", tooManyRoundTrips, ["throw", "answer"]);
  for (const [name, strategy] of Object.entries({ toolError, invalidInput, unknownTool })) {
    if (typeof strategy !== "function") checkOneOf(`strategies.${name}`, strategy, ["answer", "throw"]);
  }
  checkTimeout(timeoutMs);
  checkOneOf("onAbort", onAbort, ["keep", "discard"]);
  if (typeof keepFailedTurns !== "boolean")
    throw wrongOption("keepFailedTurns", keepFailedTurns, "true or false");
  const definitions = definitionsOf(tools);
  for (const [name, tool] of Object.entries(tools)) checkApproval(name, tool, messages);
  return {
    model,
    messages,
    tools: new Map(Object.entries(tools)),
    definitions,
    systemMessage: policy.systemMessage,
    maxRoundTrips,
    toolConcurrency,
    strategies: { toolError, invalidInput, unknownTool, tooManyRoundTrips },
    busy,
    timeoutMs,
    onAbort,
    keepFailedTurns,
  };
}

/** Anthropic refuses a blank system message. Errors: `INVALID_OPTION`. */
export function checkNotBlank(systemMessage: string): void {
  if (systemMessage.trim() !== "") return;
  throw wrongOption("systemMessage", systemMessage, "text that is not blank, or undefined for none");
}

function checkOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.includes(value as string)) return;
  throw wrongOption(name, value, allowed.map((each) => JSON.stringify(each)).join(" or "));
}

/**
 * A name that at least one hosted provider accepts. OpenAI takes 64 characters, without dots and colons; Anthropic
 * takes 128; Gemini takes dots and colons.
 */
const toolName = /^[\w.:-]{1,128}$/;

function definitionsOf(tools: Tools): ToolDefinition[] {
  return Object.entries(tools).map(([name, tool]) => {
    if (!toolName.test(name)) {
      throw wrongOption(
        "A name in tools",
        name,
        '1 to 128 characters of a-z, A-Z, 0-9, "_", "-", "." and ":"',
      );
    }
    if (typeof tool?.execute !== "function") {
      throw wrongOption(`tools[${quoted(name)}].execute`, tool?.execute, "a function");
    }
    if (tool.returnBehavior !== undefined) {
      const behaviors = ["model", "immediate", "immediate-if-last"];
      checkOneOf(`tools[${quoted(name)}].returnBehavior`, tool.returnBehavior, behaviors);
    }
    const { description } = tool;
    const inputSchema = jsonSchemaOf(name, tool);
    return Object.freeze(
      description === undefined ? { name, inputSchema } : { name, description, inputSchema },
    );
  });
}

const approvalMethods = ["request", "response", "responses"] as const;

function checkApproval<M>(name: string, tool: Tool, { approvals }: AssistantMessages<M>): void {
  if (!mayNeedApproval(tool)) return;
  const { needsApproval } = tool;
  const option = `tools[${quoted(name)}].needsApproval`;
  if (needsApproval !== true && typeof needsApproval !== "function")
    throw wrongOption(option, needsApproval, "true, false or a function");
  if (approvals === undefined) {
    throw new TurnkeepError(
      "INVALID_OPTION",
      `${option}: these messages have no place for approvals. Use a memory of the default format (ModelMessage, the AI ` +
        "SDK's too), whose model may be openaiCompatible or aiSdkModel, or give messages.approvals of your own.",
    );
  }
  for (const method of approvalMethods) {
    if (typeof approvals[method] !== "function")
      throw wrongOption(`messages.approvals.${method}`, approvals[method], "a function");
  }
}

function jsonSchemaOf(name: string, { inputSchema, jsonSchema }: Tool): JsonSchema {
  if (jsonSchema !== undefined) return jsonSchema;
  if (!isStandardSchema(inputSchema)) {
    if (typeof inputSchema === "object" && inputSchema !== null) return inputSchema as JsonSchema;
    throw wrongOption(
      `tools[${quoted(name)}].inputSchema`,
      inputSchema,
      "a JSON Schema, or a schema of a library that has Standard Schema",
    );
  }
  const { jsonSchema: converter, vendor } = inputSchema["~standard"];
  if (converter === undefined) {
    throw new TurnkeepError(
      "INVALID_OPTION",
      `tools[${quoted(name)}].inputSchema is of ${vendor}, which cannot write JSON Schema by itself: give jsonSchema beside it.`,
    );
  }
  try {
    // The draft that the providers' documentation uses.
    const { $schema: _, ...schema } = converter.input({ target: "draft-07" });
    return schema;
  } catch (cause) {
    throw new TurnkeepError(
      "INVALID_OPTION",
      `tools[${quoted(name)}].inputSchema cannot be written as JSON Schema by ${vendor} (the cause says why): give jsonSchema beside it.`,
      { cause },
    );
  }
}
