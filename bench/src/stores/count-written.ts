import { conversation } from "../corpus.ts";
import type { Arena, Contender, Window } from "./contender.ts";

/** Bytes that a message takes. */
export interface Written {
  /** In the database's log, until that is recycled. */
  readonly log: number;
  /** In tables and indexes, for good. */
  readonly disk: number;
}

/** How many messages a conversation has when counting begins. */
const counted = 10;

/** Counts what one contender's appends to some conversations leave in the database, for each message. */
export async function countWritten(
  written: NonNullable<Arena["written"]>,
  { name, fill, open }: Contender,
  window: Window,
  quick: boolean,
): Promise<Written & { readonly name: string }> {
  const messages = conversation(quick ? 20 : 200);
  const names = Array.from({ length: 10 }, (_, index) => `written-${index}`);
  for (const one of names) await fill(one, messages.slice(0, 1), window);
  const append = async (from: number, to?: number): Promise<void> => {
    for (const one of names) {
      const conversation = open(one, window);
      for (const message of messages.slice(from, to)) await conversation.append(message);
    }
  };
  // The first change of a page after a checkpoint logs the page whole, whoever makes it.
  await append(1, counted);
  const { log, disk } = await written(() => append(counted));
  const count = names.length * (messages.length - counted);
  return { name, log: log / count, disk: disk / count };
}
