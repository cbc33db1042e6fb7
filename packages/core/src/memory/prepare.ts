import { invalidOption, TurnkeepError } from "../errors.ts";
import { copyOf } from "../format/checked-codec.ts";
import { onlySets } from "../format/only-sets.ts";
import type { Entry } from "../memory-entry.ts";
import { uuidv7 } from "../message-id.ts";
import { wrongOption } from "../option-checks.ts";
import { deepFreeze } from "../steps/deep-freeze.ts";
import type { ItemReader } from "../steps/item.ts";
import { factsOf } from "../steps/item-facts.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Prepared } from "./draft.ts";
import { isEntry } from "./entry.ts";

/**
 * Checks, copies and counts a message before anything is written. Errors: `INVALID_MESSAGE`, `INVALID_OPTION` for a bad
 * id or a token counter's bad answer.
 */
export function prepare<M>(value: M | Entry<M>, reader: ItemReader<M>, id?: string): Prepared<M> {
  const given: Partial<Entry<M>> & Pick<Entry<M>, "message"> = isEntry(value) ? value : { message: value };
  const ownId = id ?? given.id;
  if (ownId !== undefined) checkMessageId(ownId);
  if (given.id !== undefined && given.id !== ownId) {
    throw invalidOption("put was given one id, and an entry with another. Give the entry none, or the same.");
  }
  if (given.model !== undefined && typeof given.model !== "string") {
    throw invalidOption("An entry's model must be a text, such as a model's name.");
  }
  if (given.toolsKey !== undefined && typeof given.toolsKey !== "string") {
    throw invalidOption("An entry's toolsKey must be a text.");
  }
  // An entry of an earlier copy of this package has none.
  const { createdAt = Date.now() } = given;
  if (!Number.isSafeInteger(createdAt) || createdAt < 0) {
    throw wrongOption("An entry's createdAt", createdAt, "whole milliseconds since the epoch");
  }
  const { payload, message } = copyOf(given.message, reader.format);
  return {
    id: ownId ?? uuidv7(),
    ownId: ownId !== undefined,
    createdAt,
    payload,
    model: given.model,
    toolsKey: given.toolsKey,
    facts: factsOf(deepFreeze(message), reader),
  };
}

/** The same for a message that is to be the prompt. Errors: also `INVALID_MESSAGE` for one that cannot be. */
export function prepareInstruction<M>(value: M | Entry<M>, reader: ItemReader<M>): Prepared<M> {
  const prepared = prepare(value, reader);
  const { role, message } = prepared.facts;
  if (role === "system" && !onlySets(message, reader.format)) return { ...prepared, instructs: true };
  throw new TurnkeepError(
    "INVALID_MESSAGE",
    `instruct takes a system message with a text; this one has the role ${role}${role === "system" ? " and no text" : ""}.`,
  );
}

export function prepareAll<M>(values: readonly (M | Entry<M>)[], reader: ItemReader<M>): Prepared<M>[] {
  // Copied, so that a hole in the list is a message that is undefined.
  return [...values].map((value) => prepare(value, reader));
}
