import { type MessageFormat, TurnkeepError } from "@turnkeep/core";
import { checkObject } from "@turnkeep/core/store-kit";
import { isObject, kindOf } from "../checks.ts";
import { type Loss, Losses } from "./losses.ts";
import type { NeutralMessage } from "./neutral.ts";
import { settled } from "./settle.ts";

/**
 * How the messages of one format become those of another: each format's entry has one, core's `ModelMessage` has
 * `modelMessageConversion`. `In` is what it reads, `Out` what it writes.
 */
export interface Conversion<In, Out = In> {
  readonly format: MessageFormat<In>;
  /** Reports what the neutral form has no place for. Given only messages that the format's `encode` takes. */
  read(messages: readonly In[], losses: Losses): NeutralMessage[];
  /** Reports what the format has no place for. */
  write(messages: readonly NeutralMessage[], losses: Losses): Out[];
}

/** The messages in the other format, and what did not survive. */
export interface Converted<M> {
  readonly messages: M[];
  /** By message, each kind once. Empty: everything has its place. */
  readonly lost: readonly Loss[];
}

/**
 * A conversation's messages in another format: texts, images and files, tool calls and their results, and reasoning
 * where it may stand. What has no place there is left out and reported, never passed over in silence: see
 * `docs/conversions.md` for what survives between which formats. One message may become several, and several one.
 *
 * Not reported is what names messages and items to their own application or API, or tells how far they have come: `id`,
 * `status`, `state`. The arguments of a call are read as JSON, so that blanks between its tokens do not survive, nor digits
 * of a number beyond those of a double. Ids of calls stay as they are; calls that have none are given some.
 *
 * Errors: `INVALID_MESSAGE` for what the format of `from` refuses; `INVALID_OPTION` for what is no list of messages and
 * no conversion, and for other options.
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
  options: { readonly from: Conversion<In, unknown>; readonly to: Conversion<unknown, Out> },
): Converted<Out> {
  if (!Array.isArray(messages)) {
    throw new TurnkeepError("INVALID_OPTION", `convert takes a list of messages, not ${kindOf(messages)}.`);
  }
  const given: Readonly<Record<string, unknown>> = isObject(options) ? options : {};
  checkObject("convert's second argument", given, ["from", "to"]);
  checkConversion("from", given.from);
  checkConversion("to", given.to);
  const { from, to } = options;
  for (const message of messages) from.format.encode(message);
  if (from.format.name === to.format.name) {
    // A format holds what it holds: the same name means the same messages.
    return { messages: [...messages] as unknown[] as Out[], lost: [] };
  }
  const losses = new Losses();
  const written = to.write(settled(from.read(messages, losses), losses), losses);
  return { messages: written, lost: losses.list() };
}

function checkConversion(name: string, value: unknown): void {
  if (isObject(value) && isObject(value.format) && typeof value.read === "function") return;
  const what = isObject(value) && typeof value.encode === "function" ? "a message format" : kindOf(value);
  throw new TurnkeepError(
    "INVALID_OPTION",
    `convert's ${name} must be a conversion, such as openaiConversion of @turnkeep/formats/openai, not ${what}.`,
  );
}
