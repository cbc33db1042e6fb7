import { type RemoteThreadListAdapter, useAui } from "@assistant-ui/react";
import type { ChatInfo, TurnkeepChatTransport } from "@turnkeep/ai-sdk/client";
import { APICallError, type UIMessage } from "ai";
import { useMemo } from "react";
import { threadHistory } from "./history.ts";
import type { ThreadIds } from "./ids.ts";
import { titleStream } from "./title.ts";
import type { Transport } from "./transport.ts";

type Thread = Awaited<ReturnType<RemoteThreadListAdapter["fetch"]>>;

/** The list of threads, with each one's history. */
export function threadList<M extends UIMessage>(
  chats: TurnkeepChatTransport<M>,
  transport: Transport<M>,
  ids: ThreadIds,
): RemoteThreadListAdapter {
  // biome-ignore lint/correctness/noComponentHookFactories: the list is made once, outside of components.
  const useAdapters = () => useThreadHistory(chats, transport);
  return {
    async list({ after } = {}) {
      const { chats: listed, cursor } = await chats.list(after === undefined ? {} : { cursor: after });
      return { threads: listed.map(threadOf), ...(cursor !== undefined && { nextCursor: cursor }) };
    },
    fetch: async (remoteId) => threadOf(await chats.chat(remoteId)),
    // Its first question begins it on the server.
    initialize: async (threadId) => ({ remoteId: ids.remoteOf(threadId) }),
    rename: async (remoteId, title) => void (await chats.updateChat(remoteId, { title })),
    archive: async (remoteId) => void (await chats.updateChat(remoteId, { archived: true })),
    unarchive: async (remoteId) => void (await chats.updateChat(remoteId, { archived: false })),
    delete: (remoteId) => chats.deleteChat(remoteId).catch(unlessGone),
    generateTitle: async (remoteId) => titleStream(chats, remoteId, transport.answered(remoteId)),
    unstable_useAdapters: useAdapters,
  };
}

function useThreadHistory<M extends UIMessage>(chats: TurnkeepChatTransport<M>, transport: Transport<M>) {
  const aui = useAui();
  return useMemo(() => {
    const thread = () => aui.threadListItem.getState();
    return { history: threadHistory(chats, transport, thread) };
  }, [aui, chats, transport]);
}

function threadOf({ id, title, archived, updatedAt }: ChatInfo & { readonly updatedAt?: number }): Thread {
  return {
    remoteId: id,
    status: archived === true ? "archived" : "regular",
    ...(title !== undefined && { title }),
    ...(updatedAt !== undefined && { lastMessageAt: new Date(updatedAt) }),
  };
}

/** A thread whose first question was refused is not on the server. */
function unlessGone(error: unknown): void {
  if (!APICallError.isInstance(error) || error.statusCode !== 404) throw error;
}
