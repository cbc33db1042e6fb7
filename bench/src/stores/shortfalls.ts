import { user } from "@turnkeep/core";
import type { Contender, Window } from "./contender.ts";

/** Where a peer cannot go on. */
export interface Shortfall {
  readonly name: string;
  /** How many messages had been said. */
  readonly size: number;
  readonly why: string;
}

/** Which peers could not hold a conversation, or did not show its end: they take no part from there on. */
export class Shortfalls {
  readonly all: Shortfall[] = [];

  has({ name }: Pick<Contender, "name">): boolean {
    return this.all.some((one) => one.name === name);
  }

  /** Does something with a contender at that size; a peer may fail, and is out then. */
  async attempt<T>(contender: Contender, size: number, run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (cause) {
      if (contender.kind !== "peer") throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      this.all.push({ name: contender.name, size, why: why.split("\n")[0] as string });
      return undefined;
    }
  }
}

/** Fills a conversation, adds a message to it and reads: an error if that message is not shown. */
export async function fillAndCheck(
  contender: Contender,
  name: string,
  messages: Parameters<Contender["fill"]>[1],
  window: Window,
): Promise<void> {
  await contender.fill(name, messages, window);
  const mark = `mark-${performance.now()}`;
  const conversation = contender.open(name, window);
  await conversation.append(user(mark));
  const shown = await conversation.read();
  if (!JSON.stringify(shown).includes(mark)) {
    throw new Error("A read does not show the newest message but older ones");
  }
}
