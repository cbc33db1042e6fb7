import { type ChatMemory, isTurnkeepError } from "@turnkeep/core";
import { isToolUIPart, type ToolUIPart, type UIMessage } from "ai";
import { jsonText } from "./plain.ts";

/** How long an answer that streams is not stored at most, beside the time that storing takes. */
export const keepEveryMs = 500;

const goneCodes = ["ID_CONFLICT", "NOT_FOUND", "OWNER_MISMATCH", "TURN_LOST"];

/** Whether it says that an answer is wanted no more: taken back, its chat deleted, or another turn begun. */
export function isGone(error: unknown): boolean {
  return isTurnkeepError(error) && goneCodes.includes(error.code);
}

/**
 * Keeps an answer while it streams: the newest state of it, at intervals, one write at a time. `end` writes the last, and
 * nothing is written after that.
 */
export class Keeper {
  readonly #memory: ChatMemory<UIMessage>;
  readonly #id: string;
  readonly #onGone: () => void;
  /** What is not written yet. */
  #newest: UIMessage | undefined;
  /** Set until the write that it begins has ended, or all has. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #write: Promise<void> = Promise.resolve();
  #isGone = false;

  constructor(memory: ChatMemory<UIMessage>, id: string, onGone: () => void) {
    this.#memory = memory;
    this.#id = id;
    this.#onGone = onGone;
  }

  note(message: UIMessage): void {
    this.#newest = message;
    this.#timer ??= setTimeout(() => {
      this.#write = this.#putNewest();
    }, keepEveryMs);
  }

  /** Errors: of the store. */
  async end(message: UIMessage): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#write;
    await this.#put(message);
  }

  async #putNewest(): Promise<void> {
    const message = this.#newest as UIMessage;
    this.#newest = undefined;
    // A store that is away for a moment may be back for the next state, or for this one if none comes.
    await this.#put(message).catch(() => {
      this.#newest ??= message;
    });
    if (this.#timer === undefined) return;
    this.#timer = undefined;
    if (this.#newest !== undefined) this.note(this.#newest);
  }

  async #put(message: UIMessage): Promise<void> {
    if (this.#isGone) return;
    try {
      await this.#memory.put(this.#id, message, { mustExist: true });
    } catch (error) {
      const smaller = isTurnkeepError(error, "MESSAGE_TOO_LARGE") ? withoutLargestResult(message) : undefined;
      if (smaller !== undefined) return this.#put(smaller);
      if (!isGone(error)) throw error;
      this.#isGone = true;
      this.#onGone();
    }
  }
}

/** The answer as if the tool with the largest result had failed; `undefined` if no tool has a result. */
function withoutLargestResult(message: UIMessage): UIMessage | undefined {
  const sizes = message.parts.map((part) =>
    isToolUIPart(part) && part.state === "output-available" ? jsonText(part.output).length : -1,
  );
  const largest = Math.max(...sizes);
  if (largest < 0) return undefined;
  const parts = message.parts.map((part, index) =>
    index === sizes.indexOf(largest) ? withoutResult(part) : part,
  );
  return { ...message, parts };
}

function withoutResult(part: UIMessage["parts"][number]): UIMessage["parts"][number] {
  const { output: _, preliminary: __, ...call } = part as ToolUIPart & { readonly state: "output-available" };
  return { ...call, state: "output-error", errorText: "The result is too large to be kept." };
}
