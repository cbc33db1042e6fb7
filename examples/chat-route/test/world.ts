import { type ChatMemories, type ChatMemory, createChatMemories, type WindowOptions } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { createDatabase } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { isToolUIPart, type UIMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, expect, inject } from "vitest";
import { mockModel } from "../src/mock-model.ts";
import { chatRoute } from "../src/route.ts";
import { serve } from "./serve.ts";

type Answer = MockLanguageModelV4["doStream"];

const { doStream } = mockModel() as MockLanguageModelV4;

export interface Posting {
  readonly message: UIMessage | object;
  readonly user?: string;
  readonly [member: string]: unknown;
}

/** What a request got. */
export interface Got {
  readonly status: number;
  readonly text: string;
}

/** A process that serves the route. Several know of each other by the database alone. */
export interface Process {
  readonly memories: ChatMemories<UIMessage>;
  readonly url: string;
  /** What went wrong in it, and was not told to the browser in words. */
  readonly failures: unknown[];
  /** The prompts that its model got. */
  readonly prompts: string[];
  post(posting: Posting): Promise<Got>;
  /** Says something under an id, as a user does. */
  say(id: string, text: string, more?: object): Promise<Got>;
}

export interface Chat {
  readonly id: string;
  readonly memory: ChatMemory<UIMessage>;
  /** Each live message with its text or the states of its calls. */
  shown(): Promise<string[]>;
  newest(): Promise<UIMessage>;
  process(answer?: (goOn: Answer) => Answer): Promise<Process>;
}

interface World {
  /** A new conversation of Ann's, which nobody has begun. */
  chat(): Chat;
}

/** The database of a test file. */
export function world(window?: WindowOptions<UIMessage>): World {
  const ends: (() => unknown)[] = [];
  const open = (url: string): ChatMemories<UIMessage> => {
    const store = postgresStore({ url });
    ends.unshift(() => store.close());
    return createChatMemories({ store, format: uiMessageFormat<UIMessage>(), window });
  };
  let url = "";
  beforeAll(async () => {
    const database = await createDatabase(inject("postgresUrl"));
    ({ url } = database);
    ends.unshift(() => database.drop());
    const store = postgresStore({ url });
    await store.migrate();
    await store.close();
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return {
    chat() {
      const id = crypto.randomUUID();
      const memory = open(url).get(id);
      const newest = async (): Promise<UIMessage> => {
        const page = await memory.history({ order: "descending", limit: 1, states: ["live"] });
        return page.messages[0]?.message as UIMessage;
      };
      const shown = async (): Promise<string[]> => {
        const { messages } = await memory.history({ states: ["live"] });
        return messages.map(({ message }) => line(message));
      };
      return { id, memory, newest, shown, process: (answer) => start(id, answer) };
    },
  };

  async function start(chatId: string, answer: (goOn: Answer) => Answer = (goOn) => goOn): Promise<Process> {
    const memories = open(url);
    const prompts: string[] = [];
    const answers = answer(doStream);
    const model = new MockLanguageModelV4({
      doStream: (options) => {
        prompts.push(JSON.stringify(options.prompt));
        return answers(options);
      },
    });
    const served = await serve(chatRoute(memories, model, ({ headers }) => headers.get("user") ?? ""));
    ends.unshift(() => served.stop());
    const post = async ({ user = "ann", ...posted }: Posting): Promise<Got> => {
      const body = JSON.stringify({ id: chatId, ...posted });
      const response = await fetch(served.url, { method: "POST", headers: { user }, body });
      return { status: response.status, text: await response.text() };
    };
    const say: Process["say"] = (id, text, more) => post({ message: question(id, text), ...more });
    return { memories, url: served.url, failures: served.failures, prompts, post, say };
  }
}

export function question(id: string, text: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

export function statesOf({ parts }: UIMessage): string[] {
  return parts.flatMap((part) => (isToolUIPart(part) ? [part.state] : []));
}

function line(message: UIMessage): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return `${message.role}: ${[...texts, ...statesOf(message)].join()}`;
}

/** The mock model's answer, whatever its number. */
export const whereTo: unknown = expect.stringContaining("assistant: Where");

/** Something to wait for, which the test lets happen. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
