import { type ChatMemories, type ChatMemory, entry, isTurnkeepError } from "@turnkeep/core";
import {
  consumeStream,
  convertToModelMessages,
  createUIMessageStreamResponse,
  isStepCount,
  isToolUIPart,
  type LanguageModel,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from "ai";
import { z } from "zod";

const tools = {
  book: tool({
    description: "Books a seat in the train to a city",
    inputSchema: z.object({ city: z.string() }),
    // Ask a booking service here.
    execute: async ({ city }) => `Seat 7 to ${city} is booked.`,
  }),
};

/** What the browser posts; see transport.ts. */
interface Posted {
  readonly id: string;
  readonly message: UIMessage;
  readonly trigger: "submit-message" | "regenerate-message";
  readonly messageId?: string;
}

/** The handler behind `useChat`. What was said before is read from the memory, not from the browser. */
export function chatRoute(
  memories: ChatMemories<UIMessage>,
  model: LanguageModel,
  userOf: (request: Request) => string, // from its session
): (request: Request) => Promise<Response> {
  return async (request) => {
    const posted = (await request.json()) as Posted;
    const memory = memories.get(posted.id, { owner: userOf(request) });
    try {
      await take(memory, posted);
    } catch (error) {
      if (isTurnkeepError(error, "OWNER_MISMATCH")) return new Response("No such chat.", { status: 404 });
      throw error;
    }
    const { messages } = await memory.prompt();
    const last = messages.at(-1);
    if (last?.id !== posted.message.id) throw new Error("The conversation has gone on.");
    const answerId = await placeOfAnswer(memory, last);
    const { stream } = streamText({
      model,
      instructions: "You book trains. Be brief.",
      messages: await convertToModelMessages(messages, { tools }),
      tools,
      toolApproval: { book: "user-approval" },
      stopWhen: isStepCount(8),
      abortSignal: request.signal,
    });
    return createUIMessageStreamResponse({
      stream: toUIMessageStream({
        stream,
        originalMessages: structuredClone(messages),
        generateMessageId: () => answerId,
        onEnd: ({ responseMessage }) => keep(memory, answerId, responseMessage),
      }),
      consumeSseStream: consumeStream, // an answer that nobody waits for any more is kept as far as it came
    });
  };
}

/** An approved message goes on under its own id; another answer has its place, behind its question, before it is made. */
async function placeOfAnswer(memory: ChatMemory<UIMessage>, last: UIMessage): Promise<string> {
  if (last.role === "assistant") return last.id;
  const id = crypto.randomUUID();
  await memory.put(id, { id, role: "assistant", parts: [] });
  return id;
}

async function keep(memory: ChatMemory<UIMessage>, id: string, answer: UIMessage): Promise<void> {
  try {
    await memory.put(id, answer, { mustExist: true });
  } catch (error) {
    // The user has taken back the question meanwhile, and the answer's place with it.
    if (!isTurnkeepError(error, "ID_CONFLICT")) throw error;
  }
}

/** Takes in what the user did: said something, said it anew, wants another answer, or has approved a call. */
async function take(memory: ChatMemory<UIMessage>, { message, trigger, messageId }: Posted): Promise<void> {
  if (message.role === "assistant") {
    const [newest] = (await memory.history({ order: "descending", limit: 1, states: ["live"] })).messages;
    if (newest?.message.id !== message.id) throw new Error("No call waits: the conversation has gone on.");
    // Where a decision comes twice, or two do, one of them finds another message in its place.
    const { id, message: stored } = newest;
    return memory.put(id, approved(stored, message), { replaces: stored });
  }
  // Another answer is wanted to the last message. After a request that failed it may not be here: then it is taken in.
  if (trigger === "regenerate-message" && (await takeBackBehind(memory, message))) return;
  // Edited, or a request that is sent again. `useChat` keeps the id of an edited message, under which the memory has the
  // version before.
  const isKnown =
    messageId !== undefined || (await memory.history({ ids: [message.id] })).messages.length > 0;
  if (isKnown) await takeBack(memory, ({ id }) => id === message.id);
  await memory.add(isKnown ? message : entry(message, { id: message.id }));
}

/**
 * Of an answer that the browser sends back, only what the user says to the calls that wait for it: neither a call that was
 * never made, nor, where a request comes twice, one that was carried out. All of them at once, as `useChat` sends them:
 * the SDK carries out each approved call of a message that has no result yet.
 */
function approved(stored: UIMessage, posted: UIMessage): UIMessage {
  let isNew = false;
  const parts = stored.parts.map((part): UIMessage["parts"][number] => {
    if (!isToolUIPart(part) || part.state !== "approval-requested") return part;
    const said = posted.parts.find((each) => isToolUIPart(each) && each.approval?.id === part.approval.id);
    if (said === undefined || !isToolUIPart(said) || said.state !== "approval-responded")
      throw new Error("No call waits for these decisions, or not every one that waits has one.");
    isNew = true;
    const { approved, reason } = said.approval;
    return {
      ...part,
      state: said.state,
      approval: { ...part.approval, approved, ...(reason && { reason }) },
    };
  });
  if (!isNew) throw new Error("No call waits for these decisions.");
  return { ...stored, parts };
}

/** Takes back the newest such message, with all behind it. */
async function takeBack(memory: ChatMemory<UIMessage>, isIt: (message: UIMessage) => boolean): Promise<void> {
  for await (const page of memory.historyPages({ order: "descending", states: ["live", "evicted"] })) {
    const found = page.messages.find(({ message }) => isIt(message));
    if (found === undefined) continue;
    return memory.rewind(found.id);
  }
}

/** Takes back all behind a message, unless it is not here, or is another version of a question. */
async function takeBackBehind(memory: ChatMemory<UIMessage>, { id, parts }: UIMessage): Promise<boolean> {
  let next: string | undefined;
  for await (const page of memory.historyPages({ order: "descending", states: ["live", "evicted"] })) {
    for (const { id: stored, message } of page.messages) {
      if (message.id === id) {
        if (JSON.stringify(message.parts) !== JSON.stringify(parts)) return false;
        if (next !== undefined) await memory.rewind(next);
        return true;
      }
      next = stored;
    }
  }
  return false;
}
