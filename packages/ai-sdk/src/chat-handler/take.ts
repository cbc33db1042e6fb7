import { type ChatMemory, entry, equalContent } from "@turnkeep/core";
import { despiteConflicts } from "@turnkeep/core/store-kit";
import { isToolUIPart, safeValidateUIMessages, type ToolSet, type UIMessage } from "ai";
import { isStreaming, withStatus } from "./metadata.ts";
import { newestOf, type Place, placeOf } from "./places.ts";
import type { Decisions, Question } from "./posted.ts";
import { goneOn, noSuchChat, Refusal } from "./refusal.ts";

type Memory = ChatMemory<UIMessage>;

/** A request to the model: what it is shown, and the stored message that its answer becomes. */
export interface Asked {
  readonly messages: UIMessage[];
  readonly answer: UIMessage;
  /** The answer's id in the memory. */
  readonly id: string;
}

/**
 * Refuses at once what would be refused after the wait for the turn: a question that does not fit, of which nothing must
 * be left, and one that would take back what the tab does not show. Answers whether what it takes back is still being made.
 */
export async function checkQuestion(
  memory: Memory,
  question: Question,
  seen: string | undefined,
): Promise<boolean> {
  await memory.messages({ extra: [question] });
  const { place } = await lookFor(memory, question.id, seen);
  return place !== undefined && isStreaming(place.newest);
}

interface Found {
  /** Whether the id is taken, if by a version that was taken back. */
  readonly isKnown: boolean;
  readonly place: Place | undefined;
}

/**
 * Whoever asked it here stored it under its id at first, and an application that moved a chat here may have given it another.
 * Where neither is so, the history need not be read.
 */
async function lookFor(memory: Memory, questionId: string, seen: string | undefined): Promise<Found> {
  const { messages } = await memory.history({ ids: [questionId] });
  const isKnown = messages.length > 0;
  if (!isKnown && !(await memory.entries()).some(({ message }) => message.id === questionId))
    return { isKnown, place: undefined };
  const place = await placeOf(memory, questionId);
  if (place !== undefined) checkTakenBack(place, seen);
  return { isKnown, place };
}

/**
 * If more than its own answer stands behind a question, another tab may have asked it, and only a tab that shows it may
 * take it back.
 */
function checkTakenBack(place: Place, seen: string | undefined): void {
  if (place.message.role !== "user") throw new Refusal(409, "Only questions can be asked again.");
  if (!place.isLastQuestion && place.newest.id !== seen) throw new Refusal(409, goneOn);
}

/**
 * Adds a question together with the place of its answer. Of one that stands here already, to be answered again or sent
 * twice, the answer is taken back in the same change; where it was edited, the question too.
 */
export function ask(memory: Memory, question: Question, seen: string | undefined): Promise<Asked> {
  return despiteConflicts(() => askOnce(memory, question, seen));
}

function askOnce(memory: Memory, question: Question, seen: string | undefined): Promise<Asked> {
  const answer = withStatus({ id: crypto.randomUUID(), role: "assistant", parts: [] }, "streaming");
  return memory.transaction(
    async (transaction) => {
      const { isKnown, place } = await lookFor(memory, question.id, seen);
      const stays = place !== undefined && equalContent(place.message, question);
      const first = stays ? place.behind : place?.id;
      if (first !== undefined) transaction.rewind(first);
      // `useChat` keeps the id of an edited message, under which the memory has the version before.
      const id = isKnown ? crypto.randomUUID() : question.id;
      if (!stays) transaction.add(entry<UIMessage>(question, { id }));
      const messages = await transaction.messages(); // A question that does not fit fails here, and nothing is written.
      transaction.add(entry(answer, { id: answer.id }));
      return { messages, answer, id: answer.id };
    },
    // What is decided in it holds for the state at its beginning alone.
    { onConflict: "throw" },
  );
}

/** The newest message, with what the user decides on its calls. Errors: a `Refusal` if they do not wait for that. */
export async function decidedOf(
  memory: Memory,
  decisions: Decisions,
  tools: ToolSet | undefined,
): Promise<{ readonly id: string; readonly stored: UIMessage; readonly message: UIMessage }> {
  const newest = await newestOf(memory);
  if (newest === undefined) throw noSuchChat;
  if (newest.message.id !== decisions.id) throw new Refusal(409, `No call waits. ${goneOn}`);
  const message = decided(newest.message, decisions);
  // The tools may be others than those that the model knew.
  const { success } = await safeValidateUIMessages({ messages: [message], tools: tools as never });
  if (!success) throw new Refusal(409, "The tools have changed since. Ask again.");
  return { id: newest.id, stored: newest.message, message: withStatus(message, "streaming") };
}

/** Notes what the user decides. The model goes on with the message that holds the calls. */
export async function decide(
  memory: Memory,
  decisions: Decisions,
  tools: ToolSet | undefined,
): Promise<Asked> {
  const { id, stored, message } = await decidedOf(memory, decisions, tools);
  // Where a decision comes twice, or two do, one of them finds another message in its place.
  await memory.put(id, message, { replaces: stored });
  const messages = await memory.messages();
  if (messages.at(-1)?.id !== decisions.id) throw new Refusal(409, `No call is made. ${goneOn}`);
  return { messages, answer: message, id };
}

/**
 * Adds to the calls that wait what the user says of them. All of them at once, as `useChat` sends them: the SDK carries out
 * each approved call of a message that has no result yet.
 */
function decided(stored: UIMessage, { decisions }: Decisions): UIMessage {
  const open = new Map(decisions.map((decision) => [decision.id, decision]));
  const refusal = new Refusal(409, "No call waits for these decisions, or not every one that waits has one.");
  const parts = stored.parts.map((part): UIMessage["parts"][number] => {
    if (!isToolUIPart(part) || part.state !== "approval-requested") return part;
    const decision = open.get(part.approval.id);
    if (decision === undefined) throw refusal;
    open.delete(decision.id);
    return { ...part, state: "approval-responded", approval: { ...part.approval, ...decision } };
  });
  if (open.size > 0) throw refusal;
  return { ...stored, parts };
}
