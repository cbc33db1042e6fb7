import type { MessageFormat, TextPlace } from "@turnkeep/core";
import { isObject, type TextKind, Visitor, withMember } from "@turnkeep/core/format-kit";
import { methodOf } from "../method-of.ts";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/** The input of a call is an object. The AI SDK stores one that was no valid JSON as the text that it was. */
export type CallInput = Rule<"call-input">;

class WithObjectInput extends Visitor {
  override text<P extends object>(part: P, member: string, of: TextPlace, kind?: TextKind): P {
    const value = (part as Readonly<Record<string, unknown>>)[member];
    if (of !== "tool-call" || kind !== "json" || isObject(value)) return part;
    // The name is that under which the AI SDK's own packages send such an input.
    return withMember(part, member, value === undefined ? {} : { rawInvalidInput: value });
  }
}

const withObjects = <M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] =>
  messages.map((message) =>
    format.toolCalls(message).length === 0
      ? message
      : (methodOf(format, "visit")(message, new WithObjectInput()) ?? message),
  );

export const callInput: RuleKind<CallInput> = {
  fields: {},
  repair: withObjects,
  breaks: changedBy(withObjects, "the input of a call is no object"),
};
