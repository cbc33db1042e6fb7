import {
  type AssistantRuntime,
  AssistantRuntimeProvider,
  useRemoteThreadListRuntime,
} from "@assistant-ui/react";
import { useChatRuntime } from "@assistant-ui/react-ai-sdk";
import type { ChatThreads } from "@turnkeep/assistant-ui";
import { createElement, type ReactNode } from "react";

interface AssistantProps {
  readonly threads: ChatThreads;
  readonly onRuntime: (runtime: AssistantRuntime) => void;
  readonly children?: ReactNode;
}

/** What stands around a page's `<Thread />` and `<ThreadList />`. */
export function Assistant({ threads, onRuntime, children }: AssistantProps) {
  const { adapter, transport, onBranchChange } = threads;
  const runtime = useRemoteThreadListRuntime({
    adapter,
    runtimeHook: () => useChatRuntime({ transport, unstable_onBranchChange: onBranchChange }),
  });
  onRuntime(runtime);
  // In JSX: <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>
  return createElement(AssistantRuntimeProvider, { runtime, children });
}
