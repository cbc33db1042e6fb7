import type { MessageFormat } from "@turnkeep/core";
import { optional } from "@turnkeep/core/store-kit";
import { isSystem } from "../about.ts";
import { pattern } from "../fields.ts";
import { methodOf } from "../method-of.ts";
import { noteOf } from "../note.ts";
import type { Finding, Rule, RuleKind } from "../rule.ts";

/**
 * A system message behind others stands behind the user's message, tool results or a result of the provider's own, and
 * before the model's answer or at the end. Several in a row are one. One without text that sets only what `anywhere` names may
 * stand anywhere: see `MessageFormat.sets`.
 */
export type InstructionPlace = Rule<"instruction-place", { readonly anywhere?: RegExp | undefined }>;

/** Stands before changes that have no text, where a message of the user's must stand. */
const toolsChanged = "System note: The tools have changed.";

/** It moves behind what the user says next; where the user says nothing more, its text becomes a note of the user's. */
export const instructionPlace: RuleKind<InstructionPlace> = {
  fields: { anywhere: optional(pattern) },
  repair<M>(messages: readonly M[], format: MessageFormat<M>, rule: InstructionPlace) {
    const placed: M[] = [];
    let waiting: M[] = [];
    const settle = (): void => {
      const isPlace = waiting.length === 0 || mayFollow(lastSaid(placed, format), format);
      for (const message of isPlace ? waiting : asNote(waiting, format)) placed.push(message);
      waiting = [];
    };
    for (const [index, message] of messages.entries()) {
      if (index > 0 && isInstruction(message, format, rule)) {
        waiting.push(message);
        continue;
      }
      if (format.role(message) === "assistant") settle();
      placed.push(message);
    }
    settle();
    return placed;
  },
  *breaks<M>(messages: readonly M[], format: MessageFormat<M>, rule: InstructionPlace) {
    let before: M | undefined;
    let row: number[] = [];
    for (const [index, message] of messages.entries()) {
      if (index > 0 && isInstruction(message, format, rule)) row.push(index);
      if (isSystem(message, format)) continue;
      if (!mayFollow(before, format))
        yield* inRow(row, "stands behind neither the user's message nor a result");
      else if (format.role(message) !== "assistant")
        yield* inRow(row, "stands before a message that is not the model's");
      before = message;
      row = [];
    }
    if (!mayFollow(before, format))
      yield* inRow(row, "stands behind neither the user's message nor a result");
  },
};

function inRow(row: readonly number[], problem: string): Finding[] {
  return row.map((index) => [index, `the system message ${problem}`]);
}

/** Whether its place matters. */
function isInstruction<M>(message: M, format: MessageFormat<M>, { anywhere }: InstructionPlace): boolean {
  if (!isSystem(message, format)) return false;
  if (format.pieces(message).some((piece) => piece.type !== "text" || piece.text.trim() !== "")) return true;
  return (format.sets?.(message) ?? []).some((name) => anywhere?.test(name) !== true);
}

function lastSaid<M>(messages: readonly M[], format: MessageFormat<M>): M | undefined {
  return messages.findLast((message) => !isSystem(message, format));
}

function mayFollow<M>(message: M | undefined, format: MessageFormat<M>): boolean {
  if (message === undefined) return false;
  return format.role(message) !== "assistant" || format.pieces(message).at(-1)?.of === "tool-result";
}

function asNote<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const note = noteOf(messages, format) ?? methodOf(format, "textMessage")("user", toolsChanged);
  return [note, ...(format.inForce?.(messages) ?? [])];
}
