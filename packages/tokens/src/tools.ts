import { TurnkeepError } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import { loadEncoding, vocabularyOf } from "./encoding.ts";
import { ruleOf } from "./models.ts";
import type { EncodingOrModel } from "./token-counter.ts";

/** The counted members of a function that a model may call. `parameters` is a JSON Schema. */
export interface FunctionDefinition {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: object | null | undefined;
}

/** A tool as Chat Completions (`{ type: "function", function }`) or Responses take it, or a bare function. */
export type ToolDefinition = FunctionDefinition | { readonly function: FunctionDefinition };

/**
 * OpenAI cookbook, "How to count tokens with tiktoken", section on tool calls: what a function, its list of properties, a
 * property, an enum's value and the end of the list cost beside their texts; an enum gives three back.
 */
const perProperties = 3;
const perProperty = 3;
const perEnum = -3;
const perEnumValue = 3;
const end = 12;

/**
 * What tool definitions cost with one of OpenAI's models, by the rule of OpenAI's cookbook: pass it to a window as
 * `reserve`. If the parameters are a flat object, the result is what the API counts. The rule does not describe nested
 * schemas; they count as their JSON text. No tools cost nothing.
 *
 * Errors: `INVALID_OPTION` for an unknown encoding or model, and for what is no list of functions with names, JSON
 * Schemas and otherwise what JSON can hold.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { countTools, tokenCounter } from "@turnkeep/tokens";
 *
 * const tools = [{ name: "now", description: "The time", parameters: { type: "object", properties: {} } }];
 * const reserve = 1_000 + (await countTools("gpt-4o", tools)); // 1,000 for the answer
 * const counter = await tokenCounter("gpt-4o");
 * const memory = createChatMemory({ window: { maxTokens: 8_000, counter, reserve } });
 * ```
 */
export async function countTools(name: EncodingOrModel, tools: readonly ToolDefinition[]): Promise<number> {
  const { encoding } = ruleOf(name);
  const plain = functionsOf(tools);
  if (plain.length === 0) return 0;
  const bytePairs = (await loadEncoding(encoding))();
  const count = (text: string): number => bytePairs.count(text);
  const perFunction = vocabularyOf(encoding) === "o200k_base" ? 7 : 10;
  let tokens = end;
  for (const { name, description, parameters } of plain) {
    tokens += perFunction + count(`${name}:${withoutStop(description)}`);
    const { properties, ...rest } = (parameters ?? {}) as JsonSchema;
    const listed = Object.entries(properties ?? {});
    if (listed.length > 0) tokens += perProperties;
    for (const [key, schema] of listed) tokens += propertyTokens(key, schema, count);
    tokens += nestedTokens(rest, ["type", "required", "additionalProperties", "$schema"], count);
  }
  return tokens;
}

/**
 * The functions as the API is sent them: in JSON, whatever their types say. The AI SDK's tools are an object by name, and
 * tools that a provider runs have no name: neither can be counted.
 */
function functionsOf(tools: readonly ToolDefinition[]): readonly FunctionDefinition[] {
  if (!Array.isArray(tools)) throw wrongTools("a value that is no list");
  // Not `map`, which passes over holes.
  return Array.from(tools as readonly ToolDefinition[], (tool, place) => {
    const given = plainOf(tool, place) as Partial<
      FunctionDefinition & { function: FunctionDefinition }
    > | null;
    const plain = given?.function ?? given;
    if (typeof plain?.name !== "string") throw wrongTools(`no function with a name at place ${place}`);
    const { description, parameters } = plain;
    if (description != null && typeof description !== "string")
      throw wrongTools(`a description that is ${kindOf(description)} at place ${place}`);
    if (parameters != null && !isSchema(parameters))
      throw wrongTools(`parameters that are no JSON Schema at place ${place}`);
    return plain as FunctionDefinition;
  });
}

function plainOf(tool: ToolDefinition, place: number): unknown {
  try {
    return JSON.parse(JSON.stringify(tool) ?? "null");
  } catch (cause) {
    throw wrongTools(`a tool that cannot be written as JSON at place ${place}`, cause);
  }
}

function isSchema(value: object): boolean {
  const properties = (value as { readonly properties?: unknown }).properties ?? {};
  if (!isObject(value) || !isObject(properties)) return false;
  return Object.values(properties).every((schema) => typeof schema === "boolean" || isObject(schema));
}

function wrongTools(what: string, cause?: unknown): TurnkeepError {
  return new TurnkeepError(
    "INVALID_OPTION",
    `countTools takes a list of functions with names; it was given ${what}. Leave out tools that the provider runs itself.`,
    { cause },
  );
}

type JsonSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly [member: string]: unknown;
};

function propertyTokens(key: string, schema: JsonSchema | boolean, count: (text: string) => number): number {
  if (typeof schema === "boolean") return perProperty + count(key);
  const { type, description, enum: values, ...rest } = schema;
  let tokens = perProperty;
  if (Array.isArray(values)) {
    tokens += perEnum;
    for (const value of values) {
      tokens += perEnumValue + count(typeof value === "string" ? value : JSON.stringify(value));
    }
  }
  const kind = typeof type === "string" ? type : type === undefined ? "" : JSON.stringify(type);
  tokens += count(`${key}:${kind}:${withoutStop(typeof description === "string" ? description : "")}`);
  return tokens + nestedTokens(rest, [], count);
}

/** Counts the JSON text of whatever the rule does not describe. */
function nestedTokens(
  members: Readonly<Record<string, unknown>>,
  free: readonly string[],
  count: (text: string) => number,
): number {
  const counted = Object.fromEntries(Object.entries(members).filter(([key]) => !free.includes(key)));
  return Object.keys(counted).length === 0 ? 0 : count(JSON.stringify(counted));
}

function withoutStop(text: string | null | undefined): string {
  return (text ?? "").replace(/\.$/, "");
}
