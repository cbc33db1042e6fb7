import { type ChatMemory, isTurnkeepError } from "@turnkeep/core";
import type { UIMessage } from "ai";

/** How long an answer that streams is not stored at most, beside the time that storing takes. */
export const keepEveryMs = 500;

/** What says that the answer is wanted no more: taken back, its chat deleted, or another turn begun. */
const goneCodes = ["ID_CONFLICT", "NOT_FOUND", "OWNER_MISMATCH", "TURN_LOST"];

/**
 * Keeps an answer while it streams: the newest state of it, at intervals, one write at a time. `end` writes the last, and
 * nothing is written after that.
 */
export class Keeper {
  readonly #memory: ChatMemory<UIMessage>;
  readonly #id: string;
  readonly #onGone: () => void;
  #newest: UIMessage | undefined;
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
      const writing = this.#newest;
      // A store that is away for a moment may be back for the next state, or for this one if none comes.
      this.#write = this.#put().catch(() => {
        this.#newest ??= writing;
      });
      void this.#write.then(() => {
        if (this.#timer === undefined) return;
        this.#timer = undefined;
        if (this.#newest !== undefined) this.note(this.#newest);
      });
    }, keepEveryMs);
  }

  /** Errors: of the store. */
  async end(message: UIMessage): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#write;
    this.#newest = message;
    await this.#put();
  }

  async #put(): Promise<void> {
    const message = this.#newest;
    this.#newest = undefined;
    if (message === undefined || this.#isGone) return;
    try {
      await this.#memory.put(this.#id, message, { mustExist: true });
    } catch (error) {
      if (!isTurnkeepError(error) || !goneCodes.includes(error.code)) throw error;
      this.#isGone = true;
      this.#onGone();
    }
  }
}
