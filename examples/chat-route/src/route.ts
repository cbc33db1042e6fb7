import type { ChatMemories } from "@turnkeep/core";
import {
  consumeStream,
  convertToModelMessages,
  createUIMessageStreamResponse,
  isStepCount,
  type LanguageModel,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from "ai";
import { z } from "zod";
import { keep, take } from "./conversation.ts";
import { readPosted } from "./posted.ts";
import { responseTo } from "./refusal.ts";

const tools = {
  book: tool({
    description: "Books a seat in the train to a city",
    inputSchema: z.object({ city: z.string() }),
    // Ask a booking service here.
    execute: async ({ city }) => `Seat 7 to ${city} is booked.`,
  }),
};

/**
 * The handler behind `useChat`. The browser says who asks what; what was said before, and what the model answered, is read
 * from the memory alone.
 */
export function chatRoute(
  memories: ChatMemories<UIMessage>,
  model: LanguageModel,
  userOf: (request: Request) => string, // from its session
): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const owner = userOf(request);
      const posted = await readPosted(request);
      const memory = memories.get(posted.id, { owner });
      const { messages, answerId } = await take(memory, posted);
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
    } catch (error) {
      return responseTo(error);
    }
  };
}
