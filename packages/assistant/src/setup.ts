import { TurnkeepError } from "@turnkeep/core";
import type { AssistantPolicy, Strategies } from "./assistant.ts";
import type { AssistantMessages } from "./messages.ts";
import type { Model, ToolDefinition } from "./model.ts";
import { isStandardSchema, type JsonSchema } from "./schema.ts";
import type { Tool, Tools } from "./tool.ts";

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
  readonly keepFailedTurns: boolean;
}

/** Errors: `INVALID_OPTION`, naming the option, its value and what it must be. */
export function setupOf<M>(policy: AssistantPolicy<M>, messages: AssistantMessages<M>): Setup<M> {
  const { model, tools = {}, maxRoundTrips = 100, toolConcurrency = 4, busy = "enqueue" } = policy;
  const { toolError = "answer", invalidInput = "answer", unknownTool = "answer" } = policy.strategies ?? {};
  const { tooManyRoundTrips = "throw" } = policy.strategies ?? {};
  const { keepFailedTurns = false } = policy;
  if (typeof model !== "function")
    throw invalid("model", model, "an async function, or what an adapter makes");
  checkWhole("maxRoundTrips", maxRoundTrips, 0);
  checkWhole("toolConcurrency", toolConcurrency, 1);
  checkOneOf("busy", busy, ["reject", "enqueue"]);
  checkOneOf("strategies.tooManyRoundTrips", tooManyRoundTrips, ["throw", "answer"]);
  for (const [name, strategy] of Object.entries({ toolError, invalidInput, unknownTool })) {
    if (typeof strategy !== "function") checkOneOf(`strategies.${name}`, strategy, ["answer", "throw"]);
  }
  if (typeof keepFailedTurns !== "boolean")
    throw invalid("keepFailedTurns", keepFailedTurns, "true or false");
  return {
    model,
    messages,
    tools: new Map(Object.entries(tools)),
    definitions: definitionsOf(tools),
    systemMessage: policy.systemMessage,
    maxRoundTrips,
    toolConcurrency,
    strategies: { toolError, invalidInput, unknownTool, tooManyRoundTrips },
    busy,
    keepFailedTurns,
  };
}

function definitionsOf(tools: Tools): ToolDefinition[] {
  return Object.entries(tools).map(([name, tool]) => {
    if (typeof tool?.execute !== "function") {
      throw invalid(`tools[${JSON.stringify(name)}].execute`, tool?.execute, "a function");
    }
    if (tool.returnBehavior !== undefined) {
      const behaviors = ["model", "immediate", "immediate-if-last"];
      checkOneOf(`tools[${JSON.stringify(name)}].returnBehavior`, tool.returnBehavior, behaviors);
    }
    const { description } = tool;
    const inputSchema = jsonSchemaOf(name, tool);
    return Object.freeze(
      description === undefined ? { name, inputSchema } : { name, description, inputSchema },
    );
  });
}

function jsonSchemaOf(name: string, { inputSchema, jsonSchema }: Tool): JsonSchema {
  if (jsonSchema !== undefined) return jsonSchema;
  if (!isStandardSchema(inputSchema)) {
    if (typeof inputSchema === "object" && inputSchema !== null) return inputSchema as JsonSchema;
    throw invalid(
      `tools[${JSON.stringify(name)}].inputSchema`,
      inputSchema,
      "a JSON Schema, or a schema of a library that has Standard Schema",
    );
  }
  const { jsonSchema: converter, vendor } = inputSchema["~standard"];
  if (converter === undefined) {
    throw new TurnkeepError(
      "INVALID_OPTION",
      `tools[${JSON.stringify(name)}].inputSchema is of ${vendor}, which cannot write JSON Schema by itself: give jsonSchema beside it.`,
    );
  }
  // The draft that providers' own documentation uses.
  const { $schema: _, ...schema } = converter.input({ target: "draft-07" });
  return schema;
}

function checkWhole(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return;
  throw invalid(name, value, least === 0 ? "a non-negative integer" : "a positive integer");
}

function checkOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.includes(value as string)) return;
  throw invalid(name, value, allowed.map((each) => JSON.stringify(each)).join(" or "));
}

export function invalid(name: string, value: unknown, expected: string): TurnkeepError {
  return new TurnkeepError("INVALID_OPTION", `${name} must be ${expected}; it is ${shown(value)}.`);
}

/** Of an object or a function only its kind: it may hold what somebody said. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}
