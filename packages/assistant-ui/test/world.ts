import { type ChatHandlerOptions, chatHandler } from "@turnkeep/ai-sdk";
import {
  type ChatMemories,
  type ChatMemoryStore,
  createChatMemories,
  inMemoryStore,
  type WindowOptions,
} from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import type { UIMessage } from "ai";
import type { ChatThreadsOptions } from "../src/index.ts";
import { modelOf, type Reply } from "./models.ts";
import { openPage, type Page } from "./page.ts";

interface Settings extends Partial<Omit<ChatHandlerOptions, "memories">> {
  readonly store?: ChatMemoryStore;
  readonly window?: WindowOptions<UIMessage> | undefined;
}

export interface Server {
  readonly memories: ChatMemories<UIMessage>;
  /** What its model was asked, as `role: text`. */
  readonly prompts: string[][];
  readonly failures: unknown[];
  /** What it answered, as `method status`. */
  readonly requests: string[];
  /** While it is down, requests arrive and their responses do not. */
  readonly net: { isDown: boolean };
  options(user: string): ChatThreadsOptions & { readonly fetch: typeof fetch };
  page(user?: string, keepsBranch?: boolean): Promise<Page>;
}

/** A server, whose model answers these, one after the other. */
export function server(
  replies: readonly Reply[],
  { store = inMemoryStore(), window, ...settings }: Settings = {},
): Server {
  const { model, prompts } = modelOf(replies);
  const memories: ChatMemories<UIMessage> = createChatMemories({
    store,
    format: uiMessageFormat<UIMessage>(),
    window,
  });
  const failures: unknown[] = [];
  const requests: string[] = [];
  const handler = chatHandler({
    memories,
    owner: ({ headers }) => headers.get("user") ?? undefined,
    model,
    onError: (error) => failures.push(error),
    ...settings,
  });
  const net = { isDown: false };
  const send = async (url: unknown, init: unknown): Promise<Response> => {
    const request = new Request(url as string, init as RequestInit);
    const response = await handler(request);
    requests.push(`${request.method} ${response.status}`);
    if (!net.isDown) return response;
    await response.text();
    throw new TypeError("Failed to fetch");
  };
  const options = (user: string) => ({ api: "http://localhost/api/chat", headers: { user }, fetch: send });
  const page = (user = "ann", keepsBranch?: boolean): Promise<Page> => openPage(options(user), keepsBranch);
  return { memories, prompts, failures, requests, net, options, page };
}
