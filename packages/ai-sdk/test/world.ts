import { type ChatMemories, type ChatMemory, createChatMemories, type WindowOptions } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { createDatabase } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { isToolUIPart, tool, type UIMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, expect, inject } from "vitest";
import { z } from "zod";
import { chatHandler } from "../src/index.ts";
import { mockModel } from "./booking-model.ts";
import { serve } from "./serve.ts";

type Answer = MockLanguageModelV4["doStream"];

const { doStream } = mockModel() as MockLanguageModelV4;

const tools = {
  book: tool({
    description: "Books a seat in the train to a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `Seat 7 to ${city} is booked.`,
  }),
};

export interface Posting {
  readonly message: UIMessage | object;
  readonly user?: string;
  readonly [member: string]: unknown;
}

/** What a request got: the stream, or the sentence of a refusal. */
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
    const failures: unknown[] = [];
    const handler = chatHandler({
      memories,
      owner: ({ headers }) => headers.get("user") ?? undefined,
      model,
      tools,
      settings: { instructions: "You book trains. Be brief.", toolApproval: { book: "user-approval" } },
      onError: (error) => failures.push(error),
    });
    const served = await serve(handler, failures);
    ends.unshift(() => served.stop());
    const post = async ({ user = "ann", ...posted }: Posting): Promise<Got> => {
      const body = JSON.stringify({ id: chatId, ...posted });
      const headers = { user, "content-type": "application/json" };
      const response = await fetch(served.url, { method: "POST", headers, body });
      const { ok, status } = response;
      const text = await response.text();
      return { status, text: ok ? text : JSON.parse(text).error };
    };
    const say: Process["say"] = (id, text, more) => post({ message: question(id, text), ...more });
    return { memories, url: served.url, failures, prompts, post, say };
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
