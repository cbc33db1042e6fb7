import type { RemoteThreadListAdapter } from "@assistant-ui/react";
import { type ChatTransportOptions, chatTransport } from "@turnkeep/ai-sdk/client";
import type { ChatTransport, UIMessage } from "ai";
import { ThreadIds } from "./chat-threads/ids.ts";
import { threadList } from "./chat-threads/list.ts";
import { Transport } from "./chat-threads/transport.ts";

/** Options of {@link chatThreads}: `api`, `credentials`, `fetch` and `headers` of `chatTransport`. */
export type ChatThreadsOptions = Omit<ChatTransportOptions, "seen">;

/** What `useChatRuntime` asks `chatHandler` through. Where a thread is loaded in mid-answer, assistant-ui follows that. */
export interface ThreadTransport<M extends UIMessage = UIMessage> extends ChatTransport<M> {
  /** Tells assistant-ui which answers of loaded threads are still being made. */
  getResumableAdapter(): { readonly resumeApi: string; readonly storage: ResumableAnswers };
}

/** The answers that are still being made, by thread. */
export interface ResumableAnswers {
  getStreamId(threadId?: string): string | null;
  setStreamId(id: string, threadId?: string): void;
  clear(threadId?: string): void;
}

/** What {@link chatThreads} answers. */
export interface ChatThreads<M extends UIMessage = UIMessage> {
  /** For `useRemoteThreadListRuntime`: the list, and with `unstable_useAdapters` each thread's history. */
  readonly adapter: RemoteThreadListAdapter;
  /** For `useChatRuntime`. */
  readonly transport: ThreadTransport<M>;
  /** For `useChatRuntime`, as its `unstable_onBranchChange`: keeps the branch that the user switches to. */
  onBranchChange(change: { readonly headId: string | null }): void;
}

/**
 * The threads of assistant-ui, kept by `chatHandler` of `@turnkeep/ai-sdk` on the server. The list is newest first, with titles; a
 * thread is loaded with all of its branches. The browser stores nothing: a question, an edited one and a wish for
 * another answer are posted with the message that they follow, and the server stores them with the answer as it is made.
 *
 * Make it once, outside of components. It takes part in `useChatRuntime` alone: no other runtime asks `chatHandler`.
 *
 * Errors: for what the server refused the AI SDK's `APICallError`, with its sentence and `statusCode`.
 *
 * @example
 * ```ts
 * import { useRemoteThreadListRuntime } from "@assistant-ui/react";
 * import { useChatRuntime } from "@assistant-ui/react-ai-sdk";
 * import { chatThreads } from "@turnkeep/assistant-ui";
 *
 * const { adapter, transport, onBranchChange } = chatThreads();
 *
 * export const useRuntime = () =>
 *   useRemoteThreadListRuntime({
 *     adapter,
 *     runtimeHook: () => useChatRuntime({ transport, unstable_onBranchChange: onBranchChange }),
 *   });
 * ```
 */
export function chatThreads<M extends UIMessage = UIMessage>(
  options: ChatThreadsOptions = {},
): ChatThreads<M> {
  const ids = new ThreadIds();
  const chats = chatTransport<M>(options);
  const transport = new Transport(chats, ids);
  return {
    adapter: threadList(chats, transport, ids),
    transport,
    onBranchChange: ({ headId }) => transport.switchTo(headId),
  };
}
