import { integer } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { AnyProcessor } from "./processor.ts";
import { stripper } from "./strip.ts";

/** Options of {@link stripReasoning}. */
export interface StripReasoningOptions {
  /**
   * How many of the newest steps with reasoning keep it; the border moves by a quarter of that number at a time.
   * Default 0: no reasoning at all.
   */
  readonly keepLastSteps?: number | undefined;
}

const fields = { keepLastSteps: optional(integer(0), 0) } satisfies Fields<StripReasoningOptions>;

/**
 * Leaves out the model's reasoning. A message that holds nothing else is left out. So is what OpenAI's Responses API
 * ran itself after its reasoning, such as a web search: the API refuses the one without the other.
 *
 * Some providers require the reasoning of a tool loop until the loop ends: for them, keep as many steps as a loop has.
 * Under a profile that binds reasoning to all that stood before it, such as Anthropic's, all reasoning behind the first
 * that is left out goes too: keeping some is of no use there.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { assistant } from "@turnkeep/core";
 * import { applyProcessors, stripReasoning } from "@turnkeep/core/processors";
 *
 * const answer = assistant([
 *   { type: "reasoning", text: "Two and two …" },
 *   { type: "text", text: "Four." },
 * ]);
 * const [shown] = await applyProcessors([answer], [stripReasoning()]);
 * // { role: "assistant", content: [{ type: "text", text: "Four." }] }
 * ```
 */
export function stripReasoning(options?: StripReasoningOptions): AnyProcessor {
  const { keepLastSteps } = takeOptions("stripReasoning", fields, options, "stripReasoning.");
  return stripper({
    name: "strip-reasoning",
    keepLastSteps,
    holds: (message, format) => format.hasReasoning(message),
    // An item's own id tells the provider which reasoning it needs.
    binds: true,
    strip: (message, format) => format.without(message, { reasoning: true }),
  });
}
