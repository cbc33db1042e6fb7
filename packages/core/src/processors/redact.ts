import type { MessageFormat, TextPlace } from "../message-format.ts";
import { callback, such, wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import { coverJsonLeaves, jsonKind, mapJsonLeaves, withDistinctKeys } from "./json-leaves.ts";
import { mapTextOf } from "./map-text.ts";
import type { AnyProcessor } from "./processor.ts";
import { eachMessage } from "./shown.ts";

/** Options of {@link redact}: patterns, or a function. */
export type RedactOptions =
  | {
      /** What to replace, wherever it occurs: regular expressions, or strings that are taken literally. */
      readonly patterns: readonly (RegExp | string)[];
      /** Default `"[redacted]"`. */
      readonly replacement?: string | undefined;
      readonly change?: undefined;
    }
  | {
      /** Returns the text to show instead. Must return the same text for the same input at every call. */
      readonly change: (text: string, of: TextPlace) => string;
      readonly patterns?: undefined;
      readonly replacement?: undefined;
    };

type Change = (text: string, of: TextPlace) => string;

const name = "redact";

const fields = {
  patterns: optional(such<readonly (RegExp | string)[]>("a list of expressions and texts", Array.isArray)),
  replacement: optional(
    such<string>("a text", (value) => typeof value === "string"),
    "[redacted]",
  ),
  change: optional(callback),
} satisfies Fields<RedactOptions>;

/**
 * Replaces what the model must not see, in every text that it would be shown: messages, calls, results, the system
 * message. What is stored stays as it is.
 *
 * If a text of a call or result is a JSON object or list, its strings and numbers are processed one by one, unescaped,
 * and the text stays JSON. Patterns are also tried on the JSON text itself, so they may name a member:
 * `/"password":"[^"]*"/`. Where that would break JSON, also of another text, each key and value that a match touches is
 * replaced as a whole.
 * Keys that become the same are numbered: `[redacted] (2)`.
 *
 * Reasoning leaves the message if something would change in it, or in what stands before it in the message, because
 * providers refuse reasoning that was changed or follows something else than before. Not processed: names and ids,
 * media (in `ModelMessage`, also a file whose data is text), the reasons given with approvals, and what only a provider
 * can read.
 *
 * There are no built-in patterns: only the application knows which texts are personal and what its keys look like.
 *
 * Errors: `INVALID_OPTION`; while it runs, `UNSUPPORTED` for a format without `mapText`.
 *
 * @example
 * ```ts
 * import { user } from "@turnkeep/core";
 * import { applyProcessors, redact } from "@turnkeep/core/processors";
 *
 * const withoutKeys = redact({ patterns: [/\bsk-[A-Za-z0-9_-]{20,}/] });
 * const [shown] = await applyProcessors([user("It is sk-1234567890abcdefghijkl.")], [withoutKeys]);
 * // { role: "user", content: "It is [redacted]." }
 * ```
 */
export function redact(options: RedactOptions): AnyProcessor {
  const change = changeOf(options);
  return eachMessage(name, (format) => {
    const mapText = mapTextOf(format, name);
    return (message) => redactedMessage(message, format, mapText, change);
  });
}

function redactedMessage<M>(
  message: M,
  format: MessageFormat<M>,
  mapText: (message: M, change: Change) => M,
  change: Change,
): M | undefined {
  let inReasoning = false;
  const redacted = mapText(message, (text, of) => {
    const after = change(text, of);
    if (of !== "reasoning") return after;
    inReasoning ||= after !== text;
    return text;
  });
  const isRefused = inReasoning || (redacted !== message && isBehindChange(message, redacted, format));
  return isRefused ? format.without(redacted, { reasoning: true }) : redacted;
}

/** Whether reasoning follows something that was changed: a provider that binds it to that would refuse it. */
function isBehindChange<M>(message: M, redacted: M, format: MessageFormat<M>): boolean {
  const before = format.pieces(message);
  const after = format.pieces(redacted);
  const last = after.findLastIndex(({ of }) => of === "reasoning");
  return after.slice(0, Math.max(0, last)).some((piece, index) => {
    const was = before[index];
    return piece.type === "text" && !(was?.type === "text" && was.text === piece.text);
  });
}

function changeOf(options: RedactOptions): Change {
  const { patterns, replacement, change } = takeOptions("redact", fields, options, "redact.");
  if ((patterns === undefined) === (change === undefined)) {
    throw wrongOption("redact", options, "given either patterns or change");
  }
  if (change !== undefined) {
    const checked: Change = (text, of) => {
      const after: unknown = change(text, of);
      if (typeof after === "string") return after;
      throw wrongOption("The result of redact.change", after, "a text");
    };
    return (text, of) => inLeaves(text, of, (leaf) => checked(leaf, of)) ?? checked(text, of);
  }
  const expressions = (patterns as readonly unknown[]).map(expressionOf);
  const replaced = (text: string): string =>
    expressions.reduce((left, expression) => left.replace(expression, () => replacement), text);
  const replacedInJson = (json: string): string =>
    expressions.reduce((left, expression) => {
      const after = left.replace(expression, () => replacement);
      return after === left || jsonKind(after) === jsonKind(left)
        ? after
        : coverJsonLeaves(left, expression, replacement);
    }, json);
  return (text, of) => inLeaves(text, of, replaced, replacedInJson) ?? replaced(text);
}

function inLeaves(
  text: string,
  of: TextPlace,
  change: (text: string) => string,
  changeJson?: (json: string) => string,
): string | undefined {
  const isOfTool = of === "tool-call" || of === "tool-result";
  // A text is only a text; but a part of an unknown type is given as JSON too, and has to stay that.
  const leaves = isOfTool
    ? mapJsonLeaves(text, change)
    : changeJson !== undefined && jsonKind(text) !== undefined
      ? text
      : undefined;
  if (leaves === undefined) return undefined;
  const after = changeJson?.(leaves) ?? leaves;
  return after === text ? text : withDistinctKeys(after);
}

/** Matches everything and keeps no state: `g` is set, `y` is not. */
function expressionOf(pattern: unknown, index: number): RegExp {
  const where = `redact.patterns[${index}]`;
  if (typeof pattern === "string") {
    if (pattern === "")
      throw wrongOption(where, "an empty text", "a text or an expression that matches something");
    return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), "g");
  }
  if (!(pattern instanceof RegExp)) throw wrongOption(where, pattern, "a text or an expression");
  const expression = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, "")}g`);
  if (expression.test(""))
    throw wrongOption(where, String(pattern), "an expression that does not match an empty text");
  expression.lastIndex = 0;
  return expression;
}
