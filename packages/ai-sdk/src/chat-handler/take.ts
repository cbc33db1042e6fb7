import { type ChatMemory, entry, equalContent } from "@turnkeep/core";
import { despiteConflicts } from "@turnkeep/core/store-kit";
import { isToolUIPart, safeValidateUIMessages, type ToolSet, type UIMessage } from "ai";
import { followingOf, otherBranch } from "./branches.ts";
import { isStreaming, withStatus } from "./metadata.ts";
import { isSeen, newestOf, type Place, placeOf, type Reader } from "./places.ts";
import type { Decisions, Question } from "./posted.ts";
import { goneOn, noSuchChat, notAsked, Refusal } from "./refusal.ts";

type Memory = ChatMemory<UIMessage>;

/** A request to the model: what it is shown, and the stored message that its answer becomes. */
export interface Asked {
  readonly messages: UIMessage[];
  readonly answer: UIMessage;
  /** The answer's id in the memory. */
  readonly id: string;
  /** That of the question; `undefined` where it was asked before, and its answer goes on. */
  readonly questionId?: string | undefined;
}

/**
 * Refuses at once what would be refused after the wait for the turn: a question that does not fit, of which nothing must
 * be left, and one that would take back what the tab does not show. Answers whether what it takes back is still being made.
 */
export async function checkQuestion(
  memory: Memory,
  question: Question,
  seen: string | undefined,
  parentId?: string | null,
): Promise<boolean> {
  await memory.messages({ extra: [question] });
  const other = await otherBranch(memory, question, seen, parentId);
  if (other !== undefined) return isStreaming(other.newest);
  const { newest } = await lookFor(memory, question, seen, parentId);
  return newest !== undefined && isStreaming(newest);
}

interface Found {
  /** Whether the id is taken, if by a version that was taken back. */
  readonly isKnown: boolean;
  /** Its id in the memory, if it stands here. */
  readonly id?: string;
  /** Whether it stands here as it is asked. */
  readonly stays: boolean;
  /** What is taken back, with all that follows it. */
  readonly first?: string | undefined;
  /** If something may be taken back: the newest message. */
  readonly newest?: UIMessage;
}

/**
 * Whoever asked it here stored it under its id at first, and an application that moved a chat here may have given it another.
 * Where neither is so, the history need not be read.
 */
async function lookFor(
  reader: Reader,
  question: Question,
  seen: string | undefined,
  parentId: string | null | undefined,
): Promise<Found> {
  const { messages } = await reader.history({ ids: [question.id] });
  const isKnown = messages.length > 0;
  if (isKnown || (await reader.entries()).some(({ message }) => message.id === question.id)) {
    const place = await placeOf(reader, question.id);
    if (place !== undefined) return { isKnown, ...standingAt(place, question, seen) };
  }
  return { isKnown, stays: false, ...(await followingOf(reader, seen, parentId)) };
}

function standingAt(place: Place, question: Question, seen: string | undefined): Omit<Found, "isKnown"> {
  checkTakenBack(place, seen);
  const { id, message, behind, newest } = place;
  const stays = equalContent(message, { ...question, id: message.id });
  return { id, stays, first: stays ? behind : id, newest: newest.message };
}

/**
 * If more than its own answer stands behind a question, another tab may have asked it, and only a tab that shows it may
 * take it back.
 */
function checkTakenBack(place: Place, seen: string | undefined): void {
  if (place.message.role !== "user") throw notAsked;
  if (!place.isLastQuestion && !isSeen(place.newest, seen)) throw new Refusal(409, goneOn);
}

/**
 * Adds a question together with the place of its answer. Of one that stands here already, to be answered again or sent
 * twice, the answer is taken back in the same change; where it was edited, the question too. Where the tab shows another
 * branch, the same change makes that the conversation.
 */
export function ask(
  memory: Memory,
  question: Question,
  seen: string | undefined,
  parentId?: string | null,
): Promise<Asked> {
  return despiteConflicts(() => askOnce(memory, question, seen, parentId));
}

function askOnce(
  memory: Memory,
  question: Question,
  seen: string | undefined,
  parentId: string | null | undefined,
): Promise<Asked> {
  const answer = withStatus({ id: crypto.randomUUID(), role: "assistant", parts: [] }, "streaming");
  return memory.transaction(
    async (transaction) => {
      const other = await otherBranch(transaction, question, seen, parentId);
      if (other !== undefined) transaction.restore(other.id);
      // Who puts a branch back has seen it.
      const newest = other === undefined ? seen : (await newestOf(transaction))?.id;
      const { isKnown, id, stays, first } = await lookFor(transaction, question, newest, parentId);
      if (first !== undefined) transaction.rewind(first);
      // `useChat` keeps the id of an edited message, under which the memory has the version before.
      const added = entry<UIMessage>(question, { id: isKnown ? crypto.randomUUID() : question.id });
      const [questionId] = stays ? [id] : transaction.add(added);
      const messages = await transaction.messages(); // A question that does not fit fails here, and nothing is written.
      transaction.add(entry(answer, { id: answer.id }));
      return { messages, answer, id: answer.id, questionId };
    },
    // What is decided in it holds for the state at its beginning alone.
    { onConflict: "throw" },
  );
}

/** The newest message, with what the user decides on its calls. Errors: a `Refusal` if they do not wait for that. */
export async function decidedOf(
  reader: Reader,
  decisions: Decisions,
  tools: ToolSet | undefined,
): Promise<{ readonly id: string; readonly message: UIMessage }> {
  const newest = await newestOf(reader);
  if (newest === undefined) throw noSuchChat;
  if (newest.message.id !== decisions.id) throw new Refusal(409, `No call waits. ${goneOn}`);
  const message = decided(newest.message, decisions);
  // The tools may be others than those that the model knew.
  const { success } = await safeValidateUIMessages({ messages: [message], tools: tools as never });
  if (!success) throw new Refusal(409, "The tools have changed since. Ask again.");
  return { id: newest.id, message: withStatus(message, "streaming") };
}

/**
 * Notes what the user decides. The model goes on with the message that holds the calls; where it cannot be shown that, they
 * wait on. Where a decision comes twice, or two do, one of them finds that they do not wait any more.
 */
export function decide(memory: Memory, decisions: Decisions, tools: ToolSet | undefined): Promise<Asked> {
  return despiteConflicts(() =>
    memory.transaction(
      async (transaction) => {
        const { id, message } = await decidedOf(transaction, decisions, tools);
        transaction.put(id, message);
        const messages = await transaction.messages();
        if (messages.at(-1)?.id !== decisions.id) throw new Refusal(409, `No call is made. ${goneOn}`);
        return { messages, answer: message, id };
      },
      { onConflict: "throw" },
    ),
  );
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
