import {
  assistant,
  type ChatMemory,
  isTurnkeepError,
  type ModelMessage,
  system,
  type TokenCounter,
  toolCall,
  toolResult,
  user,
  type WindowOptions,
} from "@turnkeep/core";
import fc from "fast-check";

/** Ids as providers make them, as applications make them, and used again in every step. */
export const callIds: readonly string[] = [
  "call_0",
  "call_1",
  "toolu_01UsBRMJWT8xAssuztCGEZNu",
  "abcDEF123",
  "functions.search:0",
  `ws_${"689e2d48".repeat(10)}`,
  "appel-n°7",
];

/** Names of tools as applications give them, and as models make them up. */
export const toolNames: readonly string[] = [
  "search",
  "functions.search",
  "functions_search",
  "weather now",
  "",
  "7days",
  `mcp__${"deep_".repeat(15)}`,
  `cat ${"report-2026.md ".repeat(15)}`,
  "天気🌧",
];

const toolName = fc.oneof({ weight: 2, arbitrary: fc.constant("search") }, fc.constantFrom(...toolNames));

type Part = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>[number];
type Content = Part[];

const text = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-z ]{1,30}$/) },
  fc.constantFrom("", " ", "\n\t", "Grüße", "🙂"),
);

const reasoning: fc.Arbitrary<Content> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Content>([]) },
  {
    weight: 1,
    arbitrary: text.map(
      (thought): Content => [
        { type: "reasoning", text: thought, providerOptions: { anthropic: { signature: "c2lnbmVk" } } },
      ],
    ),
  },
);

/** Some models give several calls of one answer the same id. */
const calls = fc.array(fc.constantFrom(...callIds, ""), { minLength: 1, maxLength: 3 });
const distinctCalls = calls.map((ids) => [...new Set(ids)]);
const callsOfAnswer = fc.oneof({ weight: 2, arbitrary: distinctCalls }, { weight: 1, arbitrary: calls });

const document: Extract<ModelMessage, { role: "user" }> = {
  role: "user",
  content: [{ type: "file", data: "JVBERi0=", mediaType: "application/pdf" }],
};

/**
 * What may stand next in a conversation. Calls and results are made apart, so that results come in time, late, twice or
 * never, that ids repeat, and that a process may have died between any two messages.
 */
export const anyMessage: fc.Arbitrary<ModelMessage> = fc.oneof(
  { weight: 5, arbitrary: text.map((said) => user(said)) },
  { weight: 1, arbitrary: fc.constant(document) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(reasoning, text)
      .map(([thoughts, said]) => assistant([...thoughts, { type: "text", text: said }])),
  },
  { weight: 1, arbitrary: reasoning.filter((all) => all.length > 0).map((thoughts) => assistant(thoughts)) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(reasoning, fc.option(text, { nil: undefined }), callsOfAnswer, toolName)
      .map(([thoughts, said, ids, name]): ModelMessage => {
        const parts = ids.flatMap((id) => toolCall(id, name, { q: said ?? "" }).content as Content);
        return assistant([
          ...thoughts,
          ...(said === undefined ? [] : [{ type: "text" as const, text: said }]),
          ...parts,
        ]);
      }),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(calls, toolName).map(
      ([ids, name]): ModelMessage => ({
        role: "tool",
        content: ids.flatMap((id) => toolResult(id, name, "found").content),
      }),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("Be brief.", "Be kind.").map((said) => system(said)) },
);

/** A conversation as it should be: each user's message is answered, each call too. */
export const orderlyTurn: fc.Arbitrary<ModelMessage[]> = fc
  .tuple(text, fc.array(fc.tuple(reasoning, callsOfAnswer, toolName), { maxLength: 3 }), reasoning, text)
  .map(([question, steps, thoughts, answer]) => [
    user(question),
    ...steps.flatMap(([thought, ids, name]): ModelMessage[] => [
      assistant([...thought, ...ids.flatMap((id) => toolCall(id, name, {}).content as Content)]),
      { role: "tool", content: ids.flatMap((id) => toolResult(id, name, "found").content) },
    ]),
    assistant([...thoughts, { type: "text", text: answer }]),
  ]);

/** One token a character of any text, so that a count can be checked by eye. */
export const characters: TokenCounter = {
  name: "characters",
  count: (message, format) =>
    format.pieces(message).reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 20), 1),
};

export const anyWindow: fc.Arbitrary<WindowOptions<ModelMessage> | undefined> = fc.option(
  fc.record({
    maxMessages: fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined }),
    maxTokens: fc.integer({ min: 40, max: 500 }),
    counter: fc.constant(characters),
    unit: fc.constantFrom("step" as const, "turn" as const, "message" as const, undefined),
    target: fc.constantFrom(0.5, 0.7, 1, undefined),
    overflow: fc.constantFrom("throw" as const, "evict" as const, undefined),
  }),
  { nil: undefined },
);

/** `undefined` where nothing fits. */
export async function viewOf(memory: ChatMemory<ModelMessage>): Promise<ModelMessage[] | undefined> {
  try {
    return await memory.messages();
  } catch (error) {
    if (isTurnkeepError(error, "WINDOW_OVERFLOW")) return undefined;
    throw error;
  }
}

/** For a call that may be refused with one of these codes, and fail in no other way. */
export function throwUnless(
  ...codes: NonNullable<Parameters<typeof isTurnkeepError>[1]>[]
): (error: unknown) => void {
  return (error) => {
    if (!codes.some((code) => isTurnkeepError(error, code))) throw error;
  };
}
