import { checkUnlessInstance } from "@turnkeep/core/store-kit";
import type { JsonSchema, OutputOf, StandardSchema } from "./schema.ts";

/** What a running tool gets beside its input. */
export interface ToolContext {
  readonly memoryId: string;
  readonly toolCallId: string;
  /** Fires when the turn is aborted. */
  readonly signal: AbortSignal;
}

/** A function that the model may call. */
export interface Tool<Input = unknown> {
  readonly description?: string | undefined;
  /**
   * What the input looks like: a schema of any library that has Standard Schema, by which the input is checked and
   * converted before the tool runs; or a JSON Schema, which is only sent to the model: then the input is any JSON object.
   */
  readonly inputSchema: JsonSchema | StandardSchema<Input>;
  /** Required where the library of `inputSchema` cannot write it as JSON Schema: at all, or a type such as a date. */
  readonly jsonSchema?: JsonSchema | undefined;
  /**
   * Does the work. What it answers is shown to the model: text as text, anything else as JSON (nothing is `null`). If
   * it throws, the strategy `toolError` decides. It must not wait for a chat of the memory that it runs for, which would
   * wait for it.
   */
  execute(input: Input, context: ToolContext): unknown;
  /**
   * Whether what the tool answers goes back to the model (`"model"`, the default) or ends the turn: `"immediate"` if all
   * tools that the model called with it do, `"immediate-if-last"` also if it is the last call. A call that failed goes
   * back to the model.
   */
  readonly returnBehavior?: "model" | "immediate" | "immediate-if-last" | undefined;
  /**
   * Whether the tool may run twice for one call. Default `false`: a call that a crash left unanswered is answered as
   * interrupted, and the model decides; `true`: it is run again.
   */
  readonly idempotent?: boolean | undefined;
}

/**
 * Tools by the names that the model calls: 1 to 128 letters (a-z, A-Z), digits, `_`, `-`, `.` and `:`. What every
 * provider takes has 64 characters or fewer, begins with a letter, and has no dot or colon.
 */
export type Tools = Readonly<Record<string, Tool>>;

const toolNames: readonly (keyof Tool)[] = [
  "description",
  "inputSchema",
  "jsonSchema",
  "execute",
  "returnBehavior",
  "idempotent",
];

/**
 * A tool whose input has the type that its schema gives it.
 *
 * Errors: `INVALID_OPTION` for a member that no tool has. An instance of a class may have more.
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
  definition: Omit<Tool<OutputOf<S>>, "inputSchema"> & { readonly inputSchema: S },
): Tool<OutputOf<S>>;
export function tool<Input = Readonly<Record<string, unknown>>>(
  definition: Omit<Tool<Input>, "inputSchema"> & { readonly inputSchema: JsonSchema },
): Tool<Input>;
export function tool<Input>(definition: Tool<Input>): Tool<Input> {
  checkUnlessInstance("tool's argument", definition, toolNames);
  return definition;
}
