import type { ModelDelta } from "./model.ts";

type Text = "untold" | "streamed" | "whole";

/**
 * Tells of one answer as it is made, and of its text at once where the model streamed none of it. Then what the model
 * streams of it later is not told of: no text comes twice.
 */
export class AnswerEvents {
  readonly #emit: (event: ModelDelta) => void;
  #text: Text = "untold";

  constructor(emit: (event: ModelDelta) => void) {
    this.#emit = emit;
  }

  delta(delta: ModelDelta): void {
    if (delta.type === "text") {
      if (this.#text === "whole") return;
      if (delta.text !== "") this.#text = "streamed";
    }
    this.#emit(delta);
  }

  /** Of an answer that is stored. */
  whole(text: string): void {
    if (this.#text !== "untold" || text === "") return;
    this.#text = "whole";
    this.#emit({ type: "text", text });
  }
}
