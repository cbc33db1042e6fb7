import {
  type BaseAgent,
  BaseLlm,
  type BaseLlmConnection,
  createEvent,
  type Event,
  FunctionTool,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  Runner,
  setLogger,
} from "@google/adk";
import { inMemoryStore, type ProviderProfile } from "@turnkeep/core";
import { geminiFormat } from "@turnkeep/formats/gemini";
import { gemini, validate } from "@turnkeep/formats/profiles";
import { expect } from "vitest";
import { z } from "zod";
import { TurnkeepPlugin, TurnkeepSessionService, type TurnkeepSessionServiceOptions } from "../src/index.ts";

setLogger(null);

export type Contents = LlmRequest["contents"];
export type Parts = NonNullable<Contents[number]["parts"]>;
type Reply = Parts | Error | ((contents: Contents) => Parts);

export type Options = Partial<TurnkeepSessionServiceOptions> & { readonly profile?: ProviderProfile };

export function serviceOf({
  store = inMemoryStore(),
  profile: _,
  ...options
}: Options = {}): TurnkeepSessionService {
  return new TurnkeepSessionService({ store, ...options });
}

/** A model that answers these, one after the other, and keeps what it was asked. */
export class ScriptedLlm extends BaseLlm {
  readonly requests: Contents[] = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    super({ model: "scripted" });
    this.#replies = replies;
  }

  /** Each is one that Gemini accepts. */
  prompts(): string[][] {
    for (const contents of this.requests)
      expect(validate(contents, gemini, { format: geminiFormat })).toEqual([]);
    return this.requests.map((contents) => contents.map(told));
  }

  override async *generateContentAsync({ contents }: LlmRequest): AsyncGenerator<LlmResponse, void> {
    this.requests.push(structuredClone(contents));
    const reply = this.#replies.shift() ?? [{ text: "Nothing more." }];
    if (reply instanceof Error) throw reply;
    yield { content: { role: "model", parts: typeof reply === "function" ? reply(contents) : reply } };
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error("not live");
  }
}

export function calling(...names: string[]): Parts {
  return names.map((name) => ({ functionCall: { name, args: {} } }));
}

export function toolOf(name: string, run: () => unknown = () => `${name} done`): FunctionTool {
  return new FunctionTool({
    name,
    description: name,
    parameters: z.object({}),
    execute: () => run() as never,
  });
}

/** A content as `role: what it holds`. */
export function told({ role, parts = [] }: Contents[number]): string {
  const said = parts.map(({ text, functionCall, functionResponse }) => {
    if (functionCall) return `[${functionCall.name}]`;
    return functionResponse
      ? `<${functionResponse.name} ${JSON.stringify(functionResponse.response)}>`
      : text;
  });
  return `${role}: ${said.join("")}`;
}

export const names = { appName: "app", userId: "ann", sessionId: "chat-1" };

export interface World {
  readonly service: TurnkeepSessionService;
  readonly runner: Runner;
  /** Asks in the session, which begins with the first question. */
  ask(said: string | Parts, key?: typeof names): Promise<Event[]>;
  recorded(): Promise<string[]>;
}

export function worldOf(agent: BaseAgent, options: Options = {}): World {
  const service = serviceOf(options);
  const plugins = [new TurnkeepPlugin({ sessionService: service, profile: options.profile })];
  const runner = new Runner({ appName: names.appName, agent, sessionService: service, plugins });
  return {
    service,
    runner,
    ask: (said, key) => ask(runner, said, key),
    async recorded() {
      const session = await service.getSession(names);
      return (session?.events ?? []).map(({ content }) => (content ? told(content) : "-"));
    },
  };
}

/** All events of the run that answers. */
export async function ask(runner: Runner, said: string | Parts, key: typeof names = names): Promise<Event[]> {
  await runner.sessionService.getOrCreateSession(key);
  const { sessionId, userId } = key;
  const newMessage = { role: "user", parts: typeof said === "string" ? [{ text: said }] : said };
  const events: Event[] = [];
  for await (const event of runner.runAsync({ userId, sessionId, newMessage })) events.push(event);
  return events;
}

export function agentOf(model: BaseLlm, ...tools: FunctionTool[]): LlmAgent {
  return new LlmAgent({ name: "helper", model, tools });
}

export function saying(text: string, author = "user", more: Partial<Event> = {}): Event {
  const role = author === "user" ? "user" : "model";
  return createEvent({ author, invocationId: "i", content: { role, parts: [{ text }] }, ...more });
}
