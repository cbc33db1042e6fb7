import { callback, type Fields, optional, such, takeMembers } from "@turnkeep/core/store-kit";
import { isStandardSchema, type JsonSchema, type OutputOf, type StandardSchema } from "./schema.ts";

/** What a running tool is given beside its input. */
export interface ToolContext {
  /** The id of the memory that the turn belongs to. */
  readonly memoryId: string;
  readonly toolCallId: string;
  /** Fires when the turn is aborted. */
  readonly signal: AbortSignal;
}

/** A function that the model may call. */
export interface Tool<Input = unknown> {
  /** What the tool does and when to call it, as the model is told. */
  readonly description?: string | undefined;
  /**
   * The shape of the input: either a Standard Schema of any library, by which the input is checked and converted before
   * the tool runs, or a JSON Schema, which is only sent to the model: the input may then be any JSON object.
   */
  readonly inputSchema: JsonSchema | StandardSchema<Input>;
  /** Required if `inputSchema`'s library cannot write it as JSON Schema: at all, or for a type such as a date. */
  readonly jsonSchema?: JsonSchema | undefined;
  /**
   * Does the work. The model is shown what it returns: text as text, anything else as JSON (nothing is `null`). If it
   * throws, or returns an `Error` or what JSON cannot hold (a `Map`, a `Response`, a generator), the strategy
   * `toolError` decides. It must not wait for a chat of the memory that it runs for: that chat would wait for it.
   */
  execute(input: Input, context: ToolContext): unknown;
  /**
   * Whether the tool's result goes back to the model (`"model"`, the default) or ends the turn. `"immediate"` ends it
   * if all tools that the model called with it do so, `"immediate-if-last"` also if it is the last call. A failed call
   * goes back to the model.
   */
  readonly returnBehavior?: "model" | "immediate" | "immediate-if-last" | undefined;
  /**
   * Whether the tool may run twice for one call. Default `false`: if a crash left a call unanswered, it is answered as
   * interrupted, and the model decides. `true`: the tool runs again.
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Whether a call waits for the user's approval before the tool runs: `true`, or a function of its input, which is
   * asked once for each call, before the answer with it is stored. If that throws, the call fails (strategy
   * `toolError`). The turn ends with `approvalRequests`, and goes on with the user's
   * decisions (see `Approvals`). An input that the tool does not take goes back to the model unasked, also one that
   * `strategies.invalidInput` repairs. A call that was stored unasked does not run again after a crash.
   */
  readonly needsApproval?: boolean | NeedsApproval<Input> | undefined;
}

/** A method, so that a tool with any input is one of {@link Tools}. */
type NeedsApproval<Input> = {
  ask(input: Input, context: ToolContext): boolean | Promise<boolean>;
}["ask"];

/** Whether any call of the tool may have to wait for the user. */
export function mayNeedApproval({ needsApproval = false }: Tool): boolean {
  return needsApproval !== false;
}

/**
 * Tools by the names that the model calls: 1 to 128 letters (a-z, A-Z), digits, `_`, `-`, `.` and `:`. For a name that
 * every provider accepts, use at most 64 characters, start with a letter, and avoid dots and colons.
 */
export type Tools = Readonly<Record<string, Tool>>;

// The assistant that is given the tool checks the rest.
const fields = {
  description: optional(),
  inputSchema: such<never>("a JSON Schema, or a schema of a library that has Standard Schema", isSchema),
  jsonSchema: optional(),
  execute: callback,
  returnBehavior: optional(),
  idempotent: optional(),
  needsApproval: optional(),
} satisfies Fields<Tool>;

function isSchema(value: unknown): boolean {
  return isStandardSchema(value) || (typeof value === "object" && value !== null);
}

/**
 * Defines a tool whose input type comes from its schema.
 *
 * Errors: `INVALID_OPTION` for an unknown member, and without schema or `execute`. A class instance may have more members.
 *
 * @example
 * ```ts
 * import { tool } from "@turnkeep/assistant";
 * import { z } from "zod";
 *
 * const weather = tool({
 *   description: "The weather in a city",
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => `4 °C in ${city}`,
 * });
 * const clock = tool({
 *   inputSchema: { type: "object", properties: {} },
 *   execute: () => new Date().toISOString(),
 * });
 * ```
 */
export function tool<S extends StandardSchema>(
  definition: Omit<Tool<OutputOf<S>>, "inputSchema"> & {
    /** The shape of the input, in any library of Standard Schema: Zod, Valibot, ArkType and others. */
    readonly inputSchema: S;
  },
): Tool<OutputOf<S>>;
export function tool<Input = Readonly<Record<string, unknown>>>(
  definition: Omit<Tool<Input>, "inputSchema"> & {
    /** The shape of the input, which the model is told; the input may be any JSON object all the same. */
    readonly inputSchema: JsonSchema;
  },
): Tool<Input>;
export function tool<Input>(definition: Tool<Input>): Tool<Input> {
  takeMembers<Tool<Input>, typeof fields>("tool's argument", fields, definition, "tool's ");
  return definition;
}
