import {
  type AssistantRuntime,
  AssistantRuntimeProvider,
  useRemoteThreadListRuntime,
} from "@assistant-ui/react";
import { useChatRuntime } from "@assistant-ui/react-ai-sdk";
import { until } from "@turnkeep/store-tests/gate";
import { lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { Window } from "happy-dom";
import { createElement } from "react";
import { type ChatThreads, type ChatThreadsOptions, chatThreads } from "../src/index.ts";

// What React asks of a browser. Its `fetch` and its streams stay Node's.
const window = new Window({ url: "http://localhost/" });
Object.assign(globalThis, { window, document: window.document, navigator: window.navigator });
const { createRoot } = await import("react-dom/client");

/** A page of a browser, with assistant-ui's own runtime. To load it again, open another. */
export interface Page {
  readonly runtime: AssistantRuntime;
  /** The conversation as it is shown: `role: text [state of a call]`. */
  shown(): string[];
  /** All branches, as assistant-ui would store them: each message behind its parent. */
  tree(): { readonly headId: string | null | undefined; readonly messages: string[] };
  /** The threads of the list, as `title` or `-`. */
  list(): string[];
  /** Says something, and waits for the answer to be over. */
  ask(text: string): Promise<void>;
  /** Says something in a message's place. */
  edit(at: number, text: string): Promise<void>;
  /** Asks for another answer at a place. */
  reload(at: number): Promise<void>;
  /** Opens a thread of the list. */
  open(threadId: string): Promise<void>;
  /** The id on the server of the thread that is shown. */
  threadId(): string;
  /** Waits for the end of what is being said. */
  settled(): Promise<void>;
  close(): void;
}

interface AppProps {
  readonly threads: ChatThreads;
  readonly keepsBranch: boolean;
  onRuntime(runtime: AssistantRuntime): void;
}

function App({ threads, keepsBranch, onRuntime }: AppProps) {
  const runtime = useRemoteThreadListRuntime({
    adapter: threads.adapter,
    // biome-ignore lint/correctness/useHookAtTopLevel: assistant-ui calls it as a hook of each thread.
    runtimeHook: () => useThread(threads, keepsBranch),
  });
  onRuntime(runtime);
  return createElement(AssistantRuntimeProvider, { runtime });
}

function useThread({ transport, onBranchChange }: ChatThreads, keepsBranch: boolean) {
  // biome-ignore lint/correctness/useHookAtTopLevel: as above.
  return useChatRuntime({
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    ...(keepsBranch && { unstable_onBranchChange: onBranchChange }),
  });
}

/** `keepsBranch`: whether a switch of a branch is told at once. */
export async function openPage(options: ChatThreadsOptions, keepsBranch = true): Promise<Page> {
  const threads = chatThreads(options);
  let current: AssistantRuntime | undefined;
  const onRuntime = (runtime: AssistantRuntime): void => {
    current = runtime;
  };
  const root = createRoot(window.document.createElement("div") as never);
  root.render(createElement(App, { threads, keepsBranch, onRuntime }));
  await until(() => current !== undefined && !current.threads.getState().isLoading);
  const runtime = current as unknown as AssistantRuntime;
  const settled = async (): Promise<void> => {
    await nextTurns();
    await until(() => !runtime.thread.getState().isRunning && !runtime.thread.getState().isLoading);
    await nextTurns();
  };
  return {
    runtime,
    settled,
    shown: () => runtime.thread.getState().messages.map(line),
    tree() {
      const { headId, messages } = runtime.thread.export();
      const textOf = new Map(messages.map(({ message }) => [message.id, line(message)]));
      return {
        headId: headId == null ? headId : textOf.get(headId),
        messages: messages.map(({ message, parentId }) =>
          [...(parentId === null ? [] : [textOf.get(parentId)]), line(message)].join(" > "),
        ),
      };
    },
    list() {
      const { threadIds, threadItems } = runtime.threads.getState();
      return threadIds.map((id) => threadItems[id]?.title ?? "-");
    },
    async ask(text) {
      runtime.thread.append(text);
      await settled();
    },
    async edit(at, text) {
      const { messages } = runtime.thread.getState();
      runtime.thread.append({
        role: "user",
        content: [{ type: "text", text }],
        parentId: messages[at - 1]?.id ?? null,
        sourceId: messages[at]?.id ?? null,
      });
      await settled();
    },
    async reload(at) {
      runtime.thread.getMessageByIndex(at).reload();
      await settled();
    },
    async open(threadId) {
      await runtime.threads.switchToThread(threadId);
      await until(() => runtime.thread.getState().messages.length > 0);
      await settled();
    },
    threadId: () => runtime.threads.mainItem.getState().remoteId as string,
    close: () => root.unmount(),
  };
}

/** What React and the SDK do behind a call that begins something. */
export async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
}

type Message = ReturnType<AssistantRuntime["thread"]["getState"]>["messages"][number];

function line({ role, content }: Message): string {
  const words = content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type !== "tool-call") return `[${part.type}]`;
    return `[${part.toolName}${part.result === undefined ? "" : `: ${part.result}`}]`;
  });
  return `${role}: ${words.join(" ")}`;
}
