import type { RemoteThreadListAdapter } from "@assistant-ui/react";
import type { TurnkeepChatTransport } from "@turnkeep/ai-sdk/client";
import type { UIMessage } from "ai";

type TitleStream = Awaited<ReturnType<RemoteThreadListAdapter["generateTitle"]>>;

/** When it is asked for after the answer: `title` of `chatHandler` may ask a model. */
const askedAfterMs = [0, 250, 750, 2_000, 5_000];

/** The title that the server gives a chat, once its first answer is stored. Empty if it gives none. */
export function titleStream<M extends UIMessage>(
  chats: TurnkeepChatTransport<M>,
  chatId: string,
  answered: Promise<void>,
): TitleStream {
  return new ReadableStream({
    async start(controller) {
      await answered;
      const title = await titleOf(chats, chatId);
      if (title !== undefined) {
        controller.enqueue({ path: [], type: "part-start", part: { type: "text" } });
        controller.enqueue({ path: [0], type: "text-delta", textDelta: title });
        controller.enqueue({ path: [0], type: "part-finish" });
      }
      controller.close();
    },
  });
}

async function titleOf<M extends UIMessage>(
  chats: TurnkeepChatTransport<M>,
  chatId: string,
): Promise<string | undefined> {
  for (const afterMs of askedAfterMs) {
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    // A chat whose first question was refused is not there.
    const chat = await chats.chat(chatId).catch(() => undefined);
    if (chat === undefined || chat.title !== undefined) return chat?.title;
  }
  return undefined;
}
