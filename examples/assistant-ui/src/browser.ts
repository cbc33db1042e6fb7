import type { AssistantRuntime } from "@assistant-ui/react";
import { chatThreads } from "@turnkeep/assistant-ui";
import { Window } from "happy-dom";
import { createElement } from "react";
import { Assistant } from "./assistant.ts";
import { handler } from "./chat.ts";

// What React asks of a browser.
const window = new Window({ url: "http://localhost/" });
Object.assign(globalThis, { window, document: window.document, navigator: window.navigator });
const { createRoot } = await import("react-dom/client");

/** A page that was just loaded, with the handler in place of a server: assistant-ui's runtime, which its components are around. */
export async function loadPage(user: string): Promise<AssistantRuntime> {
  const threads = chatThreads({
    api: "http://localhost:3000/api/chat",
    headers: { user },
    fetch: (url, init) => handler(new Request(url as string, init)),
  });
  let current: AssistantRuntime | undefined;
  const onRuntime = (runtime: AssistantRuntime): void => {
    current = runtime;
  };
  createRoot(window.document.createElement("div") as never).render(
    createElement(Assistant, { threads, onRuntime }),
  );
  await until(() => current?.threads.getState().isLoading === false);
  return current as unknown as AssistantRuntime;
}

export async function until(holds: () => boolean | undefined): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
