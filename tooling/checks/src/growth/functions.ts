import type {
  ChatMemory,
  ChatMemoryOptions,
  MessageFormat,
  ModelMessageLike,
  TokenCounter,
} from "@turnkeep/core";
import type { AnyProcessor } from "@turnkeep/core/processors";
import type { Conversion } from "@turnkeep/formats/convert";

type Messages = readonly ModelMessageLike[];
type AnyConversion = Conversion<unknown>;

/** Prepares one call of a function for a conversation; what it answers makes the call, and is measured. */
export type Prepare = (messages: Messages) => (() => unknown) | Promise<() => unknown>;
type Functions = Record<string, Prepare>;

const core = () => import("@turnkeep/core");
const processors = () => import("@turnkeep/core/processors");
const formats = () => import("@turnkeep/formats/convert");
const profiles = () => import("@turnkeep/formats/profiles");
const tokens = () => import("@turnkeep/tokens");

/** Costs nothing that grows faster than what it counts. */
const characters: TokenCounter = {
  name: "characters",
  count: (message, format) =>
    format.pieces(message).reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 1), 0),
};

/**
 * The functions that the text of a chat's user, and what a model makes of it, reaches. It loads them, so that whoever
 * counts may have begun before.
 */
export async function measuredFunctions(): Promise<Readonly<Functions>> {
  const conversions = await allConversions();
  return {
    ...(await ofMemories()),
    ...(await ofProfiles()),
    ...(await ofFormats(conversions)),
    ...(await ofCounters()),
    ...(await ofProcessors()),
  };
}

async function ofMemories(): Promise<Functions> {
  const { createChatMemory, inMemoryStore } = await core();
  const { tokenLimiter, toolCallFilter } = await processors();
  const { strict } = await profiles();
  type Options = Partial<ChatMemoryOptions<ModelMessageLike>>;
  const windowed = (window: Options["window"]): Options => ({ window: { overflow: "keep", ...window } });
  /** A memory that somebody else has filled. */
  const filled = async (messages: Messages, options: Options = {}): Promise<ChatMemory<ModelMessageLike>> => {
    const store = inMemoryStore();
    await createChatMemory<ModelMessageLike>({ id: "a", store }).add(...messages);
    return createChatMemory<ModelMessageLike>({
      ...options,
      id: "a",
      store,
    } as ChatMemoryOptions<ModelMessageLike>);
  };
  const adding =
    (options: Options): Prepare =>
    (messages) => {
      const memory = createChatMemory<ModelMessageLike>(options as ChatMemoryOptions<ModelMessageLike>);
      return async () => {
        for (const message of messages) await memory.add(message);
      };
    };
  const shown =
    (options: Options): Prepare =>
    async (messages) => {
      const memory = await filled(messages, options);
      return () => memory.messages();
    };
  const explained =
    (options: Options): Prepare =>
    async (messages) => {
      const memory = await filled(messages, options);
      return () => memory.explain();
    };
  /** A memory whose conversation was begun anew, and what it began with at first. */
  const begunAnew = async (messages: Messages, options: Options = {}) => {
    const memory = await filled(messages, options);
    const { messages: said } = await memory.history({ limit: 1, states: ["live", "evicted"] });
    const first = said[0]?.id as string;
    await memory.rewind(first);
    await memory.add(...messages);
    return { memory, first };
  };
  const restored =
    (options: Options): Prepare =>
    async (messages) => {
      const { memory, first } = await begunAnew(messages, options);
      return () => memory.restore(first);
    };
  const limiter = tokenLimiter({ limit: 50, counter: characters, overflow: "keep" });
  return {
    add: (messages) => () => createChatMemory<ModelMessageLike>().add(...messages),
    "add one by one": adding({}),
    "add one by one, within a window": adding(windowed({ maxMessages: 20 })),
    set: async (messages) => {
      const memory = await filled([{ role: "user", content: "Go" }]);
      return () => memory.set([...messages]);
    },
    restore: restored({}),
    "restore, within a window": restored(windowed({ maxMessages: 20 })),
    versions: async (messages) => {
      const { memory, first } = await begunAnew(messages);
      return () => memory.versions(first);
    },
    messages: shown({}),
    "messages, within a window": shown(windowed({ maxTokens: 50, counter: characters })),
    "messages, within a window of turns": shown(
      windowed({ maxTokens: 50, counter: characters, unit: "turn" }),
    ),
    "messages, within a window of messages": shown(windowed({ maxMessages: 20, unit: "message" })),
    "messages, for all providers": shown({ profile: strict }),
    "messages, filtered": shown({ processors: [toolCallFilter({ exclude: ["book"] }), limiter] }),
    explain: explained({}),
    "explain, for all providers": explained({ profile: strict }),
  };
}

async function ofProfiles(): Promise<Functions> {
  const { modelMessageFormat: format } = await core();
  const { anthropic, bedrock, gemini, minimax, mistral, openai, openaiResponses, strict, validate } =
    await profiles();
  const all = { anthropic, bedrock, gemini, minimax, mistral, openai, openaiResponses, strict };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, profile]): [string, Prepare][] => [
      [`validate for ${name}`, (messages) => () => validate(messages, profile, { format })],
      [`repair for ${name}`, (messages) => () => profile.shape(messages, format)],
    ]),
  );
}

async function allConversions(): Promise<Readonly<Record<string, AnyConversion>>> {
  const { modelMessageConversion } = await formats();
  const { uiMessageConversion } = await import("@turnkeep/formats/ai-sdk");
  const { anthropicConversion } = await import("@turnkeep/formats/anthropic");
  const { geminiConversion } = await import("@turnkeep/formats/gemini");
  const { bedrockConversion } = await import("@turnkeep/formats/bedrock");
  const { ollamaConversion } = await import("@turnkeep/formats/ollama");
  const { langchain4jConversion } = await import("@turnkeep/formats/langchain4j");
  const { openaiConversion } = await import("@turnkeep/formats/openai");
  const { openaiResponsesConversion } = await import("@turnkeep/formats/openai-responses");
  return {
    ModelMessage: modelMessageConversion as AnyConversion,
    UIMessage: uiMessageConversion() as AnyConversion,
    Anthropic: anthropicConversion as AnyConversion,
    Gemini: geminiConversion as AnyConversion,
    Bedrock: bedrockConversion as AnyConversion,
    Ollama: ollamaConversion as AnyConversion,
    LangChain4j: langchain4jConversion as AnyConversion,
    OpenAI: openaiConversion as AnyConversion,
    Responses: openaiResponsesConversion as AnyConversion,
  };
}

async function ofFormats(conversions: Readonly<Record<string, AnyConversion>>): Promise<Functions> {
  const { createChatMemory } = await core();
  const { convert } = await formats();
  const { strict, validate } = await profiles();
  const { ModelMessage, ...others } = conversions;
  const from = ModelMessage as AnyConversion;
  const inFormat = (messages: Messages, to: AnyConversion): unknown[] =>
    to === from ? [...messages] : convert<unknown, unknown>(messages, { from, to }).messages;
  const functions: Functions = {};
  for (const [name, conversion] of Object.entries(conversions)) {
    for (const [to, target] of Object.entries(conversions)) {
      if (to === name) continue;
      functions[`convert ${name} to ${to}`] = (messages) => {
        const given = inFormat(messages, conversion);
        return () => convert<unknown, unknown>(given, { from: conversion, to: target });
      };
    }
  }
  for (const [name, conversion] of Object.entries(others)) {
    const format = conversion.format as MessageFormat<unknown>;
    functions[`validate ${name}`] = (messages) => {
      const given = inFormat(messages, conversion);
      return () => validate(given, strict, { format });
    };
    functions[`repair ${name}`] = (messages) => {
      const given = inFormat(messages, conversion);
      return () => strict.shape(given, format);
    };
    functions[`add ${name}`] = (messages) => {
      const given = inFormat(messages, conversion);
      return () => createChatMemory<unknown>({ format }).add(...given);
    };
    functions[`messages of ${name}`] = async (messages) => {
      const memory = createChatMemory<unknown>({ format });
      await memory.add(...inFormat(messages, conversion));
      return () => memory.messages();
    };
  }
  return functions;
}

async function ofCounters(): Promise<Functions> {
  const { modelMessageFormat: format } = await core();
  const { boundCounter, tokenCounter } = await tokens();
  const counters = {
    o200k_base: await tokenCounter("o200k_base"),
    cl100k_base: await tokenCounter("cl100k_base"),
    r50k_base: await tokenCounter("r50k_base"),
    anthropic: await boundCounter("anthropic"),
    gemini: await boundCounter("gemini"),
  };
  return Object.fromEntries(
    Object.entries(counters).map(([name, counter]): [string, Prepare] => [
      `count for ${name}`,
      (messages) => () => {
        for (const message of messages) counter.count(message, format);
      },
    ]),
  );
}

async function ofProcessors(): Promise<Functions> {
  const all = await processors();
  const { applyProcessors, orderToolResults } = all;
  const { modelMessageFormat: format } = await core();
  const { tokenCounter } = await tokens();
  const counter = await tokenCounter("o200k_base");
  const each: Readonly<Record<string, () => AnyProcessor>> = {
    redact: () => all.redact({ patterns: [/\bsk-[A-Za-z0-9_-]{20,}/, "deep"] }),
    truncateToolResults: () => all.truncateToolResults({ maxTokens: 50, counter }),
    stripMedia: () => all.stripMedia(),
    "stripMedia, keepLastSteps": () => all.stripMedia({ keepLastSteps: 4 }),
    stripReasoning: () => all.stripReasoning(),
    "stripReasoning, keepLastSteps": () => all.stripReasoning({ keepLastSteps: 4 }),
    toolCallFilter: () => all.toolCallFilter({ keepLastSteps: 0 }),
    "toolCallFilter, exclude": () => all.toolCallFilter({ exclude: ["look"], keepLastSteps: 4 }),
    tokenLimiter: () => all.tokenLimiter({ limit: 50, counter: characters, overflow: "keep" }),
  };
  const functions: Functions = {
    orderToolResults: (messages) => () => orderToolResults(messages, { format }),
  };
  for (const [name, make] of Object.entries(each)) {
    functions[name] = (messages) => () => applyProcessors(messages, [make()]);
    functions[`${name}, of a list that was longer`] = async (messages) => {
      const processor = make();
      // Its messages are known again.
      const list = [...messages];
      await applyProcessors(list, [processor]);
      list.splice(list.length >> 1);
      return () => applyProcessors(list, [processor]);
    };
  }
  return functions;
}
