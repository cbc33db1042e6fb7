import { type ChatMemory, entry, isTurnkeepError } from "@turnkeep/core";
import { isToolUIPart, type UIMessage } from "ai";
import type { Decisions, Posted, Question } from "./posted.ts";
import { goneOn, Refusal } from "./refusal.ts";

type Memory = ChatMemory<UIMessage>;

/** A request to the model: what it is shown, and the id of the message that its answer becomes. */
export interface Asked {
  readonly messages: UIMessage[];
  readonly answerId: string;
}

const queues = new WeakMap<Memory, Promise<unknown>>();

/**
 * Takes in what the user did, and answers what to ask the model. Requests about one conversation do so one after
 * another. Those of other processes are noticed as conflicts.
 */
export function take(memory: Memory, { message, seen }: Posted): Promise<Asked> {
  const run = (): Promise<Asked> =>
    message.role === "assistant" ? decide(memory, message) : ask(memory, message, seen);
  const turn = (queues.get(memory) ?? Promise.resolve()).then(run, run);
  queues.set(memory, turn);
  return turn;
}

/** Keeps an answer, unless its question was taken back meanwhile, or its conversation deleted. */
export async function keep(memory: Memory, id: string, answer: UIMessage): Promise<void> {
  try {
    await memory.put(id, answer, { mustExist: true });
  } catch (error) {
    const isGone = (["ID_CONFLICT", "NOT_FOUND", "OWNER_MISMATCH"] as const).some((code) =>
      isTurnkeepError(error, code),
    );
    if (!isGone) throw error;
  }
}

const mostAttempts = 8;

/**
 * Adds a question together with the place of its answer, so that none stays unanswered behind another tab's. One that
 * stands here already, edited, to be answered again or sent twice, is taken back in the same change: a process that dies
 * leaves the conversation as it was or as it is to be.
 */
async function ask(memory: Memory, question: Question, seen: string | undefined): Promise<Asked> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await askOnce(memory, question, seen);
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT") || attempt === mostAttempts) throw error;
    }
  }
}

function askOnce(memory: Memory, question: Question, seen: string | undefined): Promise<Asked> {
  const answer: UIMessage = { id: crypto.randomUUID(), role: "assistant", parts: [] };
  return memory.transaction(
    async ({ rewind, add, messages }) => {
      const { messages: known } = await memory.history({ ids: [question.id] });
      const place = known.length > 0 ? await placeOf(memory, question.id) : undefined;
      if (place !== undefined) {
        checkTakeBack(place, seen);
        rewind(place.id);
      }
      // `useChat` keeps the id of an edited message, under which the memory has the version before.
      add(entry(question, { id: known.length > 0 ? crypto.randomUUID() : question.id }));
      const shown = await messages(); // A question that does not fit fails here, and nothing is written.
      add(entry(answer, { id: answer.id }));
      return { messages: shown, answerId: answer.id };
    },
    // What is decided in it holds for the state at its beginning alone.
    { onConflict: "throw" },
  );
}

/**
 * A question is taken back with all behind it. If that is more than its own answer, another tab may have asked it, and only
 * a tab that shows it may take it back.
 */
function checkTakeBack(place: Place, seen: string | undefined): void {
  if (place.role !== "user") throw new Refusal(409, "Only questions can be asked again.");
  if (!place.isLastQuestion && place.newest !== seen) throw new Refusal(409, goneOn);
}

/** Where a message stands, by the id that the browser knows it by. */
interface Place {
  readonly id: string;
  readonly role: UIMessage["role"];
  readonly isLastQuestion: boolean;
  /** The newest message, as the browser knows it. */
  readonly newest: string;
}

async function placeOf(memory: Memory, messageId: string): Promise<Place | undefined> {
  let newest: string | undefined;
  let isLastQuestion = true;
  for await (const page of memory.historyPages({ order: "descending", states: ["live", "evicted"] })) {
    for (const { id, message } of page.messages) {
      newest ??= message.id;
      if (message.id === messageId) return { id, role: message.role, isLastQuestion, newest };
      if (message.role === "user") isLastQuestion = false;
    }
  }
  return undefined;
}

/** Notes what the user decides. The model goes on with the message that holds the calls. */
async function decide(memory: Memory, decisions: Decisions): Promise<Asked> {
  const [newest] = (await memory.history({ order: "descending", limit: 1, states: ["live"] })).messages;
  if (newest?.message.id !== decisions.id) throw new Refusal(409, `No call waits. ${goneOn}`);
  const { id, message: stored } = newest;
  // Where a decision comes twice, or two do, one of them finds another message in its place.
  await memory.put(id, decided(stored, decisions), { replaces: stored });
  const messages = await memory.messages();
  if (messages.at(-1)?.id !== decisions.id) throw new Refusal(409, `No call is made. ${goneOn}`);
  return { messages, answerId: id };
}

/**
 * Adds to the calls that wait what the user says of them. All of them at once, as `useChat` sends them: the SDK carries out
 * each approved call of a message that has no result yet.
 */
function decided(stored: UIMessage, { parts }: Decisions): UIMessage {
  const open = new Map(parts.map(({ approval }) => [approval.id, approval]));
  const refusal = new Refusal(409, "No call waits for these decisions, or not every one that waits has one.");
  const withDecisions = stored.parts.map((part): UIMessage["parts"][number] => {
    if (!isToolUIPart(part) || part.state !== "approval-requested") return part;
    const said = open.get(part.approval.id);
    if (said === undefined) throw refusal;
    open.delete(said.id);
    const { approved, reason } = said;
    const approval = { ...part.approval, approved, ...(reason && { reason }) };
    return { ...part, state: "approval-responded", approval };
  });
  if (open.size > 0) throw refusal;
  return { ...stored, parts: withDecisions };
}
