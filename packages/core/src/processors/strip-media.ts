import type { MessageFormat } from "../message-format.ts";
import { integer, such } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { AnyProcessor } from "./processor.ts";
import { stripper } from "./strip.ts";

/** Options of {@link stripMedia}. */
export interface StripMediaOptions {
  /**
   * How many of the newest steps with media keep them; the border moves by a quarter of that number at a time. Default
   * 0: no media at all.
   */
  readonly keepLastSteps?: number | undefined;
  /** The text that replaces a message that held only media. Default `"[media left out]"`. */
  readonly placeholder?: string | undefined;
}

const fields = {
  keepLastSteps: optional(integer(0), 0),
  placeholder: optional(such<string>("a text that is not blank", isFilled), "[media left out]"),
} satisfies Fields<StripMediaOptions>;

function isFilled(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Leaves out images, audio and files, also in tool results. A message that held nothing else becomes a text, so that a
 * user's turn remains; in a format without `textMessage` it is left out. A tool result still answers its call.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { user } from "@turnkeep/core";
 * import { applyProcessors, stripMedia } from "@turnkeep/core/processors";
 *
 * const screenshot = user([{ type: "image", image: "iVBORw0KGgo=" }]);
 * const [shown] = await applyProcessors([screenshot], [stripMedia()]);
 * // { role: "user", content: "[media left out]" }
 * ```
 */
export function stripMedia(options?: StripMediaOptions): AnyProcessor {
  const { keepLastSteps, placeholder } = takeOptions("stripMedia", fields, options, "stripMedia.");
  return stripper({
    name: "strip-media",
    keepLastSteps,
    holds: (message, format) => format.pieces(message).some((piece) => piece.type === "media"),
    strip: (message, format) =>
      format.without(message, { media: true }) ?? textInPlaceOf(message, placeholder, format),
  });
}

function textInPlaceOf<M>(message: M, text: string, format: MessageFormat<M>): M | undefined {
  const role = format.role(message);
  return role === "user" || role === "assistant" ? format.textMessage?.(role, text) : undefined;
}
