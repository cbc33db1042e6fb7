import type { MessageFormat, Piece, TextPlace } from "@turnkeep/core";
import { Visitor } from "@turnkeep/core/format-kit";
import { pattern } from "../fields.ts";
import { methodOf } from "../method-of.ts";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/** A result holds texts, and no media but those of the types that are `kept`. */
export type ResultMedia = Rule<"result-media", { readonly kept: RegExp }>;

class WithoutResultMedia extends Visitor {
  readonly #kept: RegExp;

  constructor(kept: RegExp) {
    super();
    this.#kept = kept;
  }

  override media<P extends object, Of extends TextPlace>(
    part: P,
    of: Of,
    pieceOf: (part: P, of: Of) => Piece,
    asPart?: (text: string) => P,
  ): P | undefined {
    if (of !== "tool-result") return part;
    const piece = pieceOf(part, of);
    const mediaType = piece.type === "media" ? piece.mediaType : undefined;
    return this.#kept.test(mediaType ?? "") ? part : asPart?.(leftOut(mediaType));
  }

  override whole<P extends object>(part: P): P {
    return part;
  }
}

function leftOut(mediaType = "an unknown type"): string {
  return `(The tool gave back a file of ${mediaType}. It is left out: only texts and images can be shown here.)`;
}

/** Another medium becomes a text in its place. */
const withTexts = <M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { kept }: ResultMedia,
): readonly M[] => {
  const visitor = new WithoutResultMedia(kept);
  return messages.map((message) => {
    const holdsResults = format.role(message) !== "system" && format.toolResults(message).length > 0;
    return holdsResults ? (methodOf(format, "visit")(message, visitor) ?? message) : message;
  });
};

export const resultMedia: RuleKind<ResultMedia> = {
  fields: { kept: pattern },
  repair: withTexts,
  breaks: changedBy(withTexts, "a result holds a medium that the provider takes in no result"),
};
