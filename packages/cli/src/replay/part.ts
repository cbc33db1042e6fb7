import { isTurnkeepError, type TokenCounter } from "@turnkeep/core";
import type { Place } from "../places/folder.ts";
import { ConversationRun } from "./conversation-run.ts";
import type { Settings } from "./options.ts";
import type { Printer } from "./printer.ts";
import { type Conversation, readConversations } from "./read-conversations.ts";
import { addFigures, noViews, type PartReport, type TurnReport, type ViewFigures } from "./report.ts";

/** What ends one conversation, and leaves the others as they are. */
const failing = [
  "INVALID_MESSAGE",
  "ID_CONFLICT",
  "MESSAGE_TOO_LARGE",
  "MEMORY_FULL",
  "CORRUPT_RECORD",
  "UNSUPPORTED_VERSION",
] as const;

/** How many messages the store had, of the conversations that were looked at, and has now. */
export interface PlayedPart extends PartReport {
  readonly stored: { readonly before: number; readonly after: number };
}

/**
 * Replays all conversations up to a turn, counted over all of them; turns that the store has already count and are
 * not played again.
 */
export async function playPart(
  settings: Settings,
  place: Place,
  counter: TokenCounter,
  printer: Printer,
  upTo: number,
): Promise<PlayedPart> {
  const failures: { id: string; problem: string }[] = [];
  let figures = noViews;
  let turnsLeft = upTo;
  const stored = { before: 0, after: 0 };
  for await (const { conversation } of readConversations(settings.files)) {
    if (conversation === undefined) continue;
    if (turnsLeft <= 0) break;
    const run = new ConversationRun(conversation, settings, place, counter);
    try {
      stored.before += await run.stored();
      figures = addFigures(figures, await playConversation(conversation, run, printer, turnsLeft));
    } catch (error) {
      if (!failing.some((code) => isTurnkeepError(error, code))) throw error;
      const failure = { id: conversation.id, problem: (error as Error).message };
      failures.push(failure);
      printer.failure(failure);
    } finally {
      stored.after += await run.stored().catch(() => 0);
      await run.close();
    }
    turnsLeft -= run.turns.length;
  }
  return { figures, failures, stored };
}

async function playConversation(
  conversation: Conversation,
  run: ConversationRun,
  printer: Printer,
  turnsLeft: number,
): Promise<ViewFigures> {
  const { turns } = run;
  const done = await run.resume();
  const { id, kind, messages } = conversation;
  const summary = { id, kind, messages: messages.length, turns: turns.length, resumedAt: done + 1 };
  const end = Math.min(turns.length, turnsLeft);
  let last: TurnReport | undefined;
  if (done < end) printer.conversation(summary);
  for (const turn of turns.slice(done, end)) {
    last = await run.play(turn);
    printer.turn(last);
  }
  if (last !== undefined && end === turns.length) printer.summary(summary, last);
  return run.figures;
}
