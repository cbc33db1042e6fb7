import type { ModelMessage } from "@turnkeep/core";
import type { Contender, Conversation, Opened } from "./contenders.ts";

/** One contender with a conversation of one length, and how long each of its steps took. */
export class Lane {
  readonly times: number[] = [];
  /** It takes part in one round of so many. */
  every = 1;
  readonly contender: Contender;
  readonly length: number;
  readonly #conversation: Conversation;
  #opened: Opened | undefined;
  #grown = 0;

  constructor(contender: Contender, conversation: Conversation) {
    this.contender = contender;
    this.length = conversation.messages.length;
    this.#conversation = conversation;
  }

  /** Begins anew. What it adds before the next beginning must leave the length about what it is said to be. */
  async open(): Promise<void> {
    this.#opened = await this.contender.open(this.#conversation);
    this.#grown = 0;
  }

  /** Adds a message and reads the view; answers the time that it took, in ms. */
  async step(message: ModelMessage): Promise<number> {
    if (this.#opened === undefined || (this.#grown > this.length / 2 && message.role === "user")) {
      await this.open();
    }
    const opened = this.#opened as unknown as Opened;
    const converted = opened.convert(message);
    const began = performance.now();
    const shown = await opened.step(converted);
    const took = performance.now() - began;
    if (!(shown > 0)) throw new Error(`${this.contender.name} showed nothing`);
    this.#grown++;
    return took;
  }
}
