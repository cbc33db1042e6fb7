import type { MessageFormat, TokenCounter } from "@turnkeep/core";

/** What a provider counts as one content block. */
export type Block = "text" | "tool-call" | "tool-result";

/** A message as a provider sees it: two with the same id are the same text, two with different ids are not. */
export interface Segment {
  readonly id: number;
  readonly tokens: number;
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly blocks: readonly Block[];
}

/**
 * Gives each message that was ever shown its segment. What a provider compares is the token stream of the whole prompt;
 * here two prompts are compared message by message, by their full text. That is exact but for the first tokens that
 * two different messages may have in common, the frame and the first words: those few are never taken as cached, so
 * that a share is too low by less than a block for each prompt whose beginning has changed.
 */
export class Segments<M> {
  readonly #byText: Map<string, Segment> = new Map();
  readonly #byMessage: WeakMap<object, Segment> = new WeakMap();
  readonly #format: MessageFormat<M>;
  readonly #counter: TokenCounter;

  constructor(format: MessageFormat<M>, counter: TokenCounter) {
    this.#format = format;
    this.#counter = counter;
  }

  of(message: M): Segment {
    const known = this.#byMessage.get(message as object);
    if (known !== undefined) return known;
    const text = JSON.stringify(message);
    const segment = this.#byText.get(text) ?? this.#make(message);
    this.#byText.set(text, segment);
    this.#byMessage.set(message as object, segment);
    return segment;
  }

  #make(message: M): Segment {
    const format = this.#format;
    const role = format.role(message);
    const calls = format.toolCalls(message).map((): Block => "tool-call");
    const results = format.toolResults(message).map((): Block => "tool-result");
    const hasContent = format
      .pieces(message)
      .some((piece) => piece.type === "media" || piece.of === "content");
    const blocks: Block[] = [...(hasContent ? ["text" as const] : []), ...calls, ...results];
    return {
      id: this.#byText.size,
      tokens: this.#counter.count(message, format),
      role,
      blocks: blocks.length > 0 ? blocks : ["text"],
    };
  }
}

export function tokensOf(prompt: readonly Segment[]): number {
  return prompt.reduce((sum, { tokens }) => sum + tokens, 0);
}
