import {
  type ChatMemories,
  type ChatMemoryStore,
  createChatMemories,
  inMemoryStore,
  type WindowOptions,
} from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { inTwo } from "@turnkeep/store-tests/gate";
import { lastAssistantMessageIsCompleteWithApprovalResponses, type Tool, tool, type UIMessage } from "ai";
import { z } from "zod";
import { chatTransport, type TurnkeepChatTransport } from "../src/client.ts";
import { type ChatHandlerOptions, type ChatMessage, chatHandler } from "../src/index.ts";
import { Chat, line } from "./browser.ts";
import { modelOf, type Part, type Reply } from "./models.ts";

type Memories = ChatMemories<UIMessage>;

interface Settings extends Partial<ChatHandlerOptions> {
  readonly window?: WindowOptions<UIMessage>;
}

/** One process that serves the chats. */
interface Server {
  readonly memories: Memories;
  readonly handler: (request: Request) => Promise<Response>;
  transport(user?: string): TurnkeepChatTransport<UIMessage>;
  /** A browser's tab, which begins with these messages. */
  tab(messages?: UIMessage[], user?: string): Chat;
}

/** Servers over one store, the prompts that their model got, and what they told to nobody but the application. */
interface World {
  server(settings?: Settings): Server;
  readonly prompts: ReturnType<typeof modelOf>["prompts"];
  readonly failures: unknown[];
}

/** A server over a store, with a model that answers these; several servers of one store are several processes. */
export const world = (...replies: Reply[]): World => worldOver(inMemoryStore(), ...replies);

export function worldOver(store: ChatMemoryStore, ...replies: Reply[]): World {
  const { model, prompts } = modelOf(...replies);
  const failures: unknown[] = [];
  const server: World["server"] = ({ window, ...settings } = {}) => {
    const memories: Memories = createChatMemories({ store, format: uiMessageFormat<UIMessage>(), window });
    const handler = chatHandler({
      memories,
      owner: ({ headers }) => headers.get("user") ?? undefined,
      model,
      onError: (error) => failures.push(error),
      ...settings,
    } as ChatHandlerOptions);
    const transport = (user = "ann"): TurnkeepChatTransport<UIMessage> =>
      chatTransport({
        api: "http://localhost/api/chat",
        headers: { user },
        fetch: async (url, init) => handler(new Request(url as string, init)),
      });
    const tab = (messages: UIMessage[] = [], user = "ann"): Chat =>
      new Chat({
        id: "chat-1",
        messages,
        transport: transport(user),
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      });
    return { memories, handler, transport, tab };
  };
  return { server, prompts, failures };
}

export async function stored(memories: Memories): Promise<UIMessage[]> {
  const { messages } = await memories.get("chat-1").history({ states: ["live", "evicted"] });
  return messages.map(({ message }) => message);
}

export const storedLines = async (memories: Memories): Promise<string[]> =>
  (await stored(memories)).map(line);

export const statusOf = async (memories: Memories): Promise<unknown> =>
  ((await stored(memories)).at(-1) as ChatMessage).metadata?.status;

/** What a process leaves that dies in its first answer. */
export const died: readonly UIMessage[] = [
  { id: "q", role: "user", parts: [{ type: "text", text: "Count." }] },
  { id: "a", role: "assistant", metadata: { status: "streaming" }, parts: [{ type: "text", text: "One, " }] },
];

export const usage = { inputTokens: 40, outputTokens: 8, cachedInputTokens: 30 };

/** A tool that books when the user has said so, and how often it has. */
export function booking(): { readonly tools: { book: Tool }; count(): number } {
  let count = 0;
  const book = tool({
    description: "books",
    inputSchema: z.object({ city: z.string() }),
    needsApproval: true,
    execute: async ({ city }) => `${city} ${++count}`,
  });
  return { tools: { book }, count: () => count };
}

export const approvalIn = (chat: Chat): string => {
  const part = chat.lastMessage?.parts.find((part) => "approval" in part);
  return (part as { approval: { id: string } }).approval.id;
};

/** The automatic request begins behind the call that causes it. */
export async function settled(chat: Chat): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  while (chat.status === "submitted" || chat.status === "streaming")
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A model whose answer has two parts, the second when it may. */
export function slowly(before: string, after: string): ReturnType<typeof inTwo<Part>> {
  return inTwo<Part>(
    [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: before },
    ],
    [
      { type: "text-delta", id: "1", delta: after },
      { type: "text-end", id: "1" },
    ],
  );
}
