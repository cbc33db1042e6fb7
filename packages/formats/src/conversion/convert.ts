import type { MessageFormat } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { withCallIds } from "@turnkeep/core/processors";
import { type Fields, invalidOption, kindOf, takeOptions } from "@turnkeep/core/store-kit";
import { type Loss, Losses } from "./losses.ts";
import type { NeutralMessage } from "./neutral.ts";
import { settled } from "./settle.ts";

/**
 * How messages of one format are converted. Each format's entry point exports one; for core's `ModelMessage` it is
 * `modelMessageConversion`. `In` is what it reads, `Out` what it writes.
 */
export interface Conversion<In, Out = In> {
  readonly format: MessageFormat<In>;
  /**
   * Reports what the neutral form cannot hold. Given only messages that the format's `encode` accepts, each result under the id
   * of its call.
   */
  read(messages: readonly In[], losses: Losses): NeutralMessage[];
  /** Reports what the format cannot hold. */
  write(messages: readonly NeutralMessage[], losses: Losses): Out[];
}

/** The converted messages, and what did not survive. */
export interface Converted<M> {
  readonly messages: M[];
  /** By message, each kind once. Empty: nothing was lost. */
  readonly lost: readonly Loss[];
}

type ConvertOptions<In, Out> = {
  /** The format of the given messages. */
  readonly from: Conversion<In, unknown>;
  /** The format to write. */
  readonly to: Conversion<unknown, Out>;
};

const fields = { from: checkConversion, to: checkConversion } satisfies Fields<ConvertOptions<never, never>>;

/**
 * Converts a conversation's messages to another format: texts, images and files, tool calls and their results, and
 * reasoning where the format allows it. Whatever the format cannot hold is left out and always reported: see
 * `docs/conversions.md` for what survives between which formats. One message may become several, and several one.
 *
 * Members that identify messages and items in their own application or API, or tell their progress, are not reported:
 * `id`, `status`, `state`. Arguments of a call are parsed as JSON, which loses whitespace between tokens and digits
 * beyond a double's. Ids of calls stay as they are; calls without one get one.
 *
 * Errors: `INVALID_MESSAGE` for what the format of `from` refuses; `INVALID_OPTION` for anything but a list of messages
 * and a conversion, and for other options.
 *
 * @example
 * ```ts
 * import { anthropicConversion } from "@turnkeep/formats/anthropic";
 * import { convert } from "@turnkeep/formats/convert";
 * import { openaiConversion } from "@turnkeep/formats/openai";
 *
 * const { messages, lost } = convert([{ role: "user", content: "Hello", name: "Ada" }], {
 *   from: openaiConversion,
 *   to: anthropicConversion,
 * });
 * // messages: [{ role: "user", content: "Hello" }], lost: [{ index: 0, kind: "message.name" }]
 * ```
 */
export function convert<In, Out>(
  messages: readonly NoInfer<In>[],
  options: ConvertOptions<In, Out>,
): Converted<Out> {
  if (!Array.isArray(messages)) {
    throw invalidOption(`convert takes a list of messages, not ${kindOf(messages)}.`);
  }
  const given = isObject(options) ? options : ({} as ConvertOptions<In, Out>);
  const { from, to } = takeOptions("convert's second argument", fields, given, "convert's ");
  for (const message of messages) from.format.encode(message);
  if (from.format.name === to.format.name) {
    // Messages of one format hold the same things: the same name means no conversion.
    return { messages: [...messages] as unknown[] as Out[], lost: [] };
  }
  const losses = new Losses();
  const paired = withCallIds(messages as readonly In[], { format: from.format });
  const written = to.write(settled(from.read(paired, losses), losses), losses);
  return { messages: written, lost: losses.list() };
}

function checkConversion(name: string, value: unknown): void {
  if (isObject(value) && isObject(value.format) && typeof value.read === "function") return;
  const what = isObject(value) && typeof value.encode === "function" ? "a message format" : kindOf(value);
  throw invalidOption(
    `${name} must be a conversion, such as openaiConversion of @turnkeep/formats/openai, not ${what}.`,
  );
}
