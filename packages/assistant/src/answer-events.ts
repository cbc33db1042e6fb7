import type { ModelDelta } from "./model.ts";

type Text = "untold" | "streamed" | "whole";

/**
 * Reports one answer as it is made, and its whole text at once if the model streamed none of it. What the model streams
 * of it afterwards is not reported, so no text comes twice.
 */
export class AnswerEvents {
  readonly #emit: (event: ModelDelta) => void;
  #text: Text = "untold";
  readonly #parts: string[] = [];

  constructor(emit: (event: ModelDelta) => void) {
    this.#emit = emit;
  }

  delta(delta: ModelDelta): void {
    if (delta.type === "text") {
      if (this.#text === "whole") return;
      if (delta.text !== "") this.#text = "streamed";
      this.#parts.push(delta.text);
    }
    this.#emit(delta);
  }

  /** The text that the model has streamed so far. */
  get streamed(): string {
    return this.#parts.join("");
  }

  /** For an answer that is stored. */
  whole(text: string): void {
    if (this.#text !== "untold" || text === "") return;
    this.#text = "whole";
    this.#emit({ type: "text", text });
  }
}
