import type { Losses } from "./losses.ts";
import type { SourcedPart } from "./neutral.ts";

/** The texts among the parts, for messages that hold nothing else; what is no text is lost. */
export function textsOf(parts: readonly SourcedPart[], losses: Losses): string[] {
  return parts.flatMap((sourced) => {
    const { part } = sourced;
    if (part.type === "text") {
      losses.options(sourced);
      return [part.text];
    }
    losses.part(sourced);
    return [];
  });
}

/** All of them as one; `undefined` where there is none. */
export function textOf(parts: readonly SourcedPart[], losses: Losses): string | undefined {
  const texts = textsOf(parts, losses);
  return texts.length === 0 ? undefined : texts.join("\n\n");
}
