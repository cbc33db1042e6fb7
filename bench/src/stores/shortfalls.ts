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

/** More than any head by hand holds, so that older messages were moved out of it. */
const messagesOfTwo = 150;

/** Two processes write in turns, each by what it read before the other wrote: an error if that costs a message. */
export async function checkTwoWriters(contender: Contender, name: string, window: Window): Promise<void> {
  await contender.fill(name, [user("Hello")], window);
  const both = [contender.open(name, window), contender.open(name, window)];
  for (const one of both) await one.read();
  const marks: string[] = [];
  for (let index = 0; index < messagesOfTwo; index++) {
    const mark = `mark-${index}.`;
    marks.push(mark);
    await both[index % 2]?.append(user(mark));
  }
  for (const one of [...both, contender.open(name, window)]) {
    const shown = await one.read();
    const due = marks.slice(-Math.max(20, shown.length));
    const lost = due.filter((mark, index) => !JSON.stringify(shown[index])?.includes(mark));
    if (lost.length > 0)
      throw new Error(`${contender.name}: ${lost.length} messages of two writers are lost`);
  }
}
