import { type ChatMemory, TurnkeepError } from "@turnkeep/core";
import {
  callback,
  type Fields,
  integer,
  lease,
  oneOf,
  optional,
  quoted,
  such,
  takeOptions,
  timeout,
  wrongOption,
} from "@turnkeep/core/store-kit";
import type { AssistantPolicy, ManyMemories, Strategies } from "./assistant.ts";
import type { AssistantMessages } from "./messages.ts";
import type { Model, ToolDefinition } from "./model.ts";
import { modelMessages } from "./model-messages.ts";
import { isStandardSchema, type JsonSchema } from "./schema.ts";
import { mayNeedApproval, type Tool, type Tools } from "./tool.ts";

/** All options of an assistant. */
export interface AssistantOptions<M> extends AssistantPolicy<M> {
  readonly messages?: AssistantMessages<M> | undefined;
  readonly memory?: ChatMemory<M> | undefined;
  readonly memories?: ManyMemories<M> | undefined;
}

/** An assistant's options, checked and with every default in place. */
export interface Setup<M> {
  readonly memory: ChatMemory<M> | undefined;
  readonly memories: ManyMemories<M> | undefined;
  readonly model: Model<M>;
  readonly messages: AssistantMessages<M>;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly definitions: readonly ToolDefinition[];
  readonly systemMessage: AssistantPolicy<M>["systemMessage"];
  readonly maxRoundTrips: number;
  readonly toolConcurrency: number;
  readonly strategies: { readonly [Name in keyof Strategies]-?: NonNullable<Strategies[Name]> };
  readonly busy: "reject" | "enqueue";
  readonly leaseMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly onAbort: "keep" | "discard";
  readonly keepFailedTurns: boolean;
}

const fields = {
  model: such<never>("an async function, or what an adapter makes", (model) => typeof model === "function"),
  memory: optional(such<never>("a ChatMemory, such as createChatMemory()", hasMethod("add"))),
  memories: optional(such<never>("ChatMemories, such as createChatMemories({ store })", hasMethod("get"))),
  messages: optional(such<never>("the methods of your messages, such as openaiMessages()", isObject)),
  tools: optional(such<Tools>("an object of tools by their names", isTable), {}),
  systemMessage: optional(),
  maxRoundTrips: optional(integer(0), 100),
  toolConcurrency: optional(integer(1), 4),
  strategies: optional(),
  busy: optional(oneOf("reject", "enqueue"), "enqueue"),
  leaseMs: optional(lease),
  timeoutMs: optional(timeout),
  onAbort: optional(oneOf("keep", "discard"), "keep"),
  keepFailedTurns: optional(oneOf(true, false), false),
} satisfies Fields<AssistantOptions<unknown>>;

const strategy = such<never>('"answer", "throw" or a function', isStrategy);

const strategyFields = {
  toolError: optional(strategy, "answer"),
  invalidInput: optional(strategy, "answer"),
  unknownTool: optional(strategy, "answer"),
  tooManyRoundTrips: optional(oneOf("throw", "answer"), "throw"),
} satisfies Fields<Strategies>;

/** Errors: `INVALID_OPTION`, naming the option, its value and what it must be. */
export function setupOf<M>(options: AssistantOptions<M>): Setup<M> {
  const taken = takeOptions("createAssistant's argument", fields, options);
  const { memory, memories, tools, systemMessage } = taken;
  const { messages = modelMessages as unknown as AssistantMessages<M> } = taken;
  if (memory !== undefined && memories !== undefined) {
    throw new TurnkeepError("INVALID_OPTION", "Give memory or memories, not both.");
  }
  for (const method of messageMethods) callback(`messages.${method}`, messages[method]);
  if (typeof systemMessage === "string") checkNotBlank(systemMessage);
  const strategies = takeOptions("strategies", strategyFields, taken.strategies, "strategies.");
  const definitions = definitionsOf(tools);
  for (const [name, tool] of Object.entries(tools)) checkApproval(name, tool, messages);
  const setup = { ...taken, messages, strategies, tools: new Map(Object.entries(tools)), definitions };
  checkKeepsApprovals(setup);
  return setup;
}

const messageMethods = ["system", "user", "assistant", "text", "toolCalls", "toolResult"] as const;

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function hasMethod(name: string): (value: unknown) => boolean {
  return (value) => typeof (value as Record<string, unknown> | null)?.[name] === "function";
}

/** Not a list, a `Map` or a promise: those would have no tools in them, and nobody would notice. */
function isTable(value: unknown): boolean {
  return isObject(value) && !(Symbol.iterator in (value as object)) && !(value instanceof Promise);
}

function isStrategy(value: unknown): boolean {
  return value === "answer" || value === "throw" || typeof value === "function";
}

/** Anthropic refuses a blank system message. Errors: `INVALID_OPTION`. */
export function checkNotBlank(systemMessage: string): void {
  if (systemMessage.trim() !== "") return;
  throw wrongOption("systemMessage", systemMessage, "text that is not blank, or undefined for none");
}

/**
 * A name that at least one hosted provider accepts. OpenAI takes 64 characters, without dots and colons; Anthropic
 * takes 128; Gemini takes dots and colons.
 */
const toolName = /^[\w.:-]{1,128}$/;

const behavior = oneOf("model", "immediate", "immediate-if-last");

function definitionsOf(tools: Tools): ToolDefinition[] {
  return Object.entries(tools).map(([name, tool]) => {
    if (!toolName.test(name)) {
      throw wrongOption(
        "A name in tools",
        name,
        '1 to 128 characters of a-z, A-Z, 0-9, "_", "-", "." and ":"',
      );
    }
    callback(`tools[${quoted(name)}].execute`, tool?.execute);
    const { returnBehavior } = tool;
    if (returnBehavior !== undefined) behavior(`tools[${quoted(name)}].returnBehavior`, returnBehavior);
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
    callback(`messages.approvals.${method}`, approvals[method]);
  }
}

function checkKeepsApprovals<M>({ tools, memory, memories }: Setup<M>): void {
  const asks = [...tools].find(([, tool]) => mayNeedApproval(tool));
  if (asks === undefined || memory !== undefined || memories !== undefined) return;
  throw new TurnkeepError(
    "INVALID_OPTION",
    `tools[${quoted(asks[0])}].needsApproval: give memory or memories. Without one, nothing keeps the call until the user approves it.`,
  );
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
