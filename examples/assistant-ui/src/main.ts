// npm install @assistant-ui/react @assistant-ui/react-ai-sdk @turnkeep/ai-sdk @turnkeep/assistant-ui @turnkeep/core @turnkeep/formats @types/react @types/react-dom ai happy-dom react react-dom
// It needs ai@7, the AI SDK's major 7, and with it Node 22 or newer.
// npx tsx main.ts

import type { AssistantRuntime } from "@assistant-ui/react";
import { loadPage, until } from "./browser.ts";

type Message = ReturnType<AssistantRuntime["thread"]["getState"]>["messages"][number];

const textOf = ({ content }: Message): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

/** The conversation that a page shows, with "2/3" behind what has versions. */
const show = ({ thread }: AssistantRuntime, what: string): void => {
  console.log(`${what}:`);
  for (const [at, message] of thread.getState().messages.entries()) {
    const { branchNumber, branchCount } = thread.getMessageByIndex(at).getState();
    const versions = branchCount > 1 ? ` (${branchNumber}/${branchCount})` : "";
    console.log(`  ${message.role}: ${textOf(message)}${versions}`);
  }
};

/** Waits until an answer that is not shown yet is whole. */
const answered = ({ thread }: AssistantRuntime): Promise<void> => {
  const before = thread.getState().messages.at(-1)?.id;
  return until(() => {
    const last = thread.getState().messages.at(-1);
    return last?.id !== before && last?.role === "assistant" && last.status.type === "complete";
  });
};

const page = await loadPage("ann");
const ask = async (text: string): Promise<void> => {
  page.thread.append(text);
  await answered(page);
};
await ask("Hello");
page.thread.getMessageByIndex(1).reload();
await answered(page);
await ask("And?");
const [hello] = page.thread.getState().messages;
page.thread.append({
  role: "user",
  content: [{ type: "text", text: "Good morning" }],
  parentId: null,
  sourceId: hello?.id ?? null,
});
await answered(page);
show(page, "answered anew, gone on with, and edited");
page.thread.getMessageByIndex(0).switchToBranch({ position: "previous" });
await until(() => page.thread.getState().messages.length === 4);
await ask("Again?"); // The window has room for the newest turns: the model is shown less than the page.
await until(() => page.threads.mainItem.getState().title !== undefined);

const reloaded = await loadPage("ann");
const { threadIds, threadItems } = reloaded.threads.getState();
console.log(`\nthe list of a page that was loaded since: ${threadIds.map((id) => threadItems[id]?.title)}`);
await reloaded.threads.switchToThread(threadIds[0] as string);
await until(() => reloaded.thread.getState().messages.length > 0);
show(reloaded, "the first thread, on the branch that was gone on with");
await reloaded.threads.getItemById(threadIds[0] as string).rename("Greetings");

const others = await loadPage("bob");
console.log(`\nsomebody else's list: ${others.threads.getState().threadIds.length} threads`);
