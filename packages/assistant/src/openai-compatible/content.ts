interface ContentPart {
  readonly type: string;
  readonly text?: unknown;
  readonly thinking?: unknown;
}

/** What a content says and what it thinks: it is a text, or, of Mistral's reasoning models, a list of parts. */
export function textsOf(content: unknown): { readonly text: string; readonly reasoning: string } {
  const parts = partsOf(content);
  const joined = (type: string, textOf: (part: ContentPart) => unknown): string =>
    parts
      .filter((part) => part.type === type)
      .map(textOf)
      .join("");
  return {
    text: joined("text", ({ text }) => text),
    reasoning: joined("thinking", ({ thinking }) => textsOf(thinking).text),
  };
}

/** A content and what comes behind it; a text goes on where the last one ended. */
export function joinedContent(before: unknown, more: unknown): unknown {
  if (typeof more === "string" && !Array.isArray(before))
    return ((before as string | undefined) ?? "") + more;
  const parts = [...partsOf(before)];
  for (const part of partsOf(more)) {
    const last = parts.at(-1);
    if (last === undefined || last.type !== part.type) parts.push(part);
    else if (part.type === "text") parts.splice(-1, 1, { ...last, text: `${last.text}${part.text}` });
    else if (part.type !== "thinking") parts.push(part);
    else parts.splice(-1, 1, { ...last, ...part, thinking: joinedContent(last.thinking, part.thinking) });
  }
  return parts;
}

function partsOf(content: unknown): readonly ContentPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as readonly ContentPart[]) : [];
}
