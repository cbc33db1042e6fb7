import {
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  type MemoryEvent,
  type MessageFormat,
  type Piece,
  type Role,
  user,
} from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { boundCounter, estimateMedia, type MediaPiece, textCounter, tokenCounter } from "../src/index.ts";

interface Message {
  readonly role: Role;
  readonly name?: string;
  readonly content: string;
  readonly media?: MediaPiece;
}

/** What a counter asks of a format: the role and the pieces. */
const format = {
  role: (message: Message) => message.role,
  pieces: (message: Message): Piece[] => [
    ...(message.name === undefined ? [] : [{ type: "text", text: message.name, of: "name" } as const]),
    { type: "text", text: message.content, of: "content" },
    ...(message.media === undefined ? [] : [message.media]),
  ],
} as unknown as MessageFormat<Message>;

const image: MediaPiece = { type: "media", mediaType: "image/png", bytes: 40_000, of: "content" };

// OpenAI cookbook, "How to count tokens with tiktoken": its example messages and the counts it prints for them.
const cookbook: Message[] = [
  {
    role: "system",
    content:
      "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
  },
  { role: "system", name: "example_user", content: "New synergies will help drive top-line growth." },
  {
    role: "system",
    name: "example_assistant",
    content: "Things working well together will increase revenue.",
  },
  {
    role: "system",
    name: "example_user",
    content:
      "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
  },
  {
    role: "system",
    name: "example_assistant",
    content: "Let's talk later when we're less busy about how to do better.",
  },
  {
    role: "user",
    content: "This late pivot means we don't have time to boil the ocean for the client deliverable.",
  },
];

describe("tokenCounter", () => {
  it.each([
    { encoding: "cl100k_base", published: 129 },
    { encoding: "o200k_base", published: 124 },
  ] as const)(
    "counts OpenAI's example as published, $published by $encoding",
    async ({ encoding, published }) => {
      const counter = await tokenCounter(encoding);
      const messages = cookbook.reduce((total, message) => total + counter.count(message, format), 0);
      expect(messages + (counter.base ?? 0)).toBe(published);
      expect(counter.name).toBe(encoding);
    },
  );

  it.each([
    ["gpt-4o", "o200k_base"],
    ["gpt-4.1-2025-04-14", "o200k_base"],
    ["ft:gpt-4o-2024-08-06:acme::1", "o200k_base"],
    ["gpt-4o-mini", "o200k_base+tiles-2833-5667"],
    ["o3", "o200k_base+tiles-75-150"],
    ["o1-pro", "o200k_base+tiles-75-150"],
    ["gpt-5", "o200k_base+tiles-70-140"],
    ["gpt-5.1", "o200k_base+tiles-70-140"],
    ["gpt-5-mini", "o200k_base+patches-1.62-1536"],
    ["gpt-4.1-mini", "o200k_base+patches-1.62-1536"],
    ["gpt-5.4-pro", "o200k_base+patches-1.2-2500"],
    ["o200k_harmony", "o200k_base+harmony"],
    ["gpt-oss-120b", "o200k_base+harmony"],
    ["gpt-4-turbo", "cl100k_base"],
    ["p50k_edit", "p50k_base"],
  ])("counts for %s under the name %s: one name for all that count alike", async (model, name) => {
    expect((await tokenCounter(model)).name).toBe(name);
  });

  it("warns of a model that it does not know, once in each memory, and counts all the same", async () => {
    const counter = await tokenCounter("gpt-7-turbo");
    expect(counter.name).toBe((await tokenCounter("gpt-6")).name);
    expect((await tokenCounter("gpt-6")).warning).toBeUndefined();
    const events: unknown[] = [];
    const onEvent = (event: MemoryEvent): unknown => event.type === "warning" && events.push(event);
    const memory = createChatMemory({ window: { maxTokens: 100, counter }, onEvent });
    await memory.add(user("Hello"));
    await memory.messages();
    const warning = { type: "warning", memoryId: "default", code: "token-counter" };
    expect(events).toEqual([expect.objectContaining(warning)]);
    expect(events).toEqual([{ ...warning, message: expect.stringMatching(/"gpt-7-turbo".* as gpt-6\./) }]);
    events.length = 0;
    const memories = createChatMemories({
      store: inMemoryStore(),
      window: { maxTokens: 100, counter },
      onEvent,
    });
    for (const id of ["a", "b", "a"]) await memories.get(id).messages();
    expect(events).toMatchObject(["a", "b"].map((memoryId) => ({ ...warning, memoryId })));
  });

  it("counts the channel that gpt-oss's assistant messages name", async () => {
    const [plain, harmony] = [await tokenCounter("o200k_base"), await tokenCounter("gpt-oss-20b")];
    const said = (role: Role): Message => ({ role, content: "2 + 2 = 4." });
    expect(harmony.count(said("assistant"), format)).toBe(plain.count(said("assistant"), format) + 2);
    expect(harmony.count(said("user"), format)).toBe(plain.count(said("user"), format));
  });

  it("counts an image by its size and detail, for each model by its own rule", async () => {
    const png =
      "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAYAAAB/HSuDAAAADElEQVQIHWP4DwQACfsD/fteaysAAAAASUVORK5CYII=";
    const shown = (detail?: string): Message => ({
      role: "user",
      content: "",
      media: { type: "media", mediaType: "image/png", bytes: 70, data: png, detail, of: "content" },
    });
    const cost = async (model: string, detail?: string): Promise<number> =>
      (await tokenCounter(model)).count(shown(detail), format) - 4;
    // 1,024 by 1,024 pixels: the guide's own example.
    expect(await cost("gpt-4o")).toBe(765);
    expect(await cost("gpt-4o", "low")).toBe(85);
    expect(await cost("gpt-5")).toBe(70 + 4 * 140);
    expect(await cost("gpt-4.1-mini")).toBe(Math.ceil(1024 * 1.62));
  });

  it("adds an estimate for media, and says another rule by another name", async () => {
    const plain = await tokenCounter("o200k_base");
    const own = await tokenCounter("o200k_base", { media: { name: "low-detail", count: () => 85 } });
    const message: Message = { role: "user", content: "What is this?" };
    const text = plain.count(message, format);
    expect(plain.count({ ...message, media: image }, format)).toBe(text + estimateMedia(image));
    expect(own.count({ ...message, media: image }, format)).toBe(text + 85);
    expect(own.name).toBe("o200k_base+low-detail");
    expect((await tokenCounter("gpt-5", { media: { name: "low-detail", count: () => 85 } })).name).toBe(
      own.name,
    );
  });

  it.each([-1, 0.5, Number.NaN])("refuses a media rule that answers %s", async (answer) => {
    const counter = await tokenCounter("o200k_base", { media: { name: "odd", count: () => answer } });
    const count = () => counter.count({ role: "user", content: "", media: image }, format);
    expect(count).toThrow(/media rule "odd" answered/);
  });

  it.each([
    ["medai", { medai: { name: "own", count: () => 1 } }, 'takes media; it was given "medai".'],
    ["null", null, "options must be an object of options; it is null."],
    ["a rule that is none", { media: 5 }, "media must be a rule"],
    ["a rule without a count", { media: { name: "own", cuont: () => 1 } }, "whose count is a function"],
  ])("refuses options that it does not know, and a media rule that is none: %s", async (_, options, says) => {
    const expected = { code: "INVALID_OPTION", message: expect.stringContaining(says) };
    await expect(tokenCounter("o200k_base", options as never)).rejects.toMatchObject(expected);
    await expect(boundCounter("gemini", options as never)).rejects.toMatchObject(expected);
  });

  it.each<[string, (wrong: never) => unknown, unknown, RegExp]>([
    ["a text", async (text) => (await textCounter("o200k_base"))(text), ["secret"], /^text .*an array/],
    [
      "no format",
      async (none) => (await tokenCounter("o200k_base")).count(cookbook[0] as Message, none),
      undefined,
      /^format must be a MessageFormat; it is undefined/,
    ],
    ["no medium", estimateMedia as (wrong: never) => unknown, { data: "secret" }, /^piece .*an object/],
    [
      "a size that is no number",
      (bytes) => estimateMedia({ ...image, bytes }),
      Symbol("9"),
      /^piece .*an object/,
    ],
    ["null for a medium", estimateMedia as (wrong: never) => unknown, null, /^piece .*null/],
    [
      "a media type that is no text",
      (mediaType) => estimateMedia({ ...image, mediaType }),
      5,
      /^piece .*an object/,
    ],
    [
      "what a media rule answers",
      async (answer) => {
        const counter = await tokenCounter("o200k_base", { media: { name: "m", count: () => answer } });
        counter.count({ role: "user", content: "", media: image }, format);
      },
      Object.create(null),
      /"m" answered an object/,
    ],
  ])("refuses %s, wrong", async (_, call, wrong, says) => {
    const outcome = (async () => call(wrong as never))();
    await expect(outcome).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(says),
    });
  });

  it("refuses a media rule without a name", async () => {
    const error = await tokenCounter("o200k_base", { media: { name: "", count: () => 1 } }).catch(
      (reason: unknown) => reason,
    );
    expect(isTurnkeepError(error, "INVALID_OPTION")).toBe(true);
  });

  it("has no answer but integers, for text of every kind", async () => {
    const counter = await tokenCounter("o200k_base");
    const count = await textCounter("o200k_base");
    for (const content of ["", " ", "\u0000", "<|endoftext|>", "\ufeff"]) {
      expect(counter.count({ role: "tool", content }, format)).toBe(3 + 1 + count(content));
    }
  });
});

describe("estimateMedia", () => {
  it.each([
    { mediaType: "image/png", bytes: 12, tokens: 1445 },
    { mediaType: undefined, bytes: undefined, tokens: 1445 },
    { mediaType: "application/pdf", bytes: undefined, tokens: 1445 },
    { mediaType: "audio/wav", bytes: 4_001, tokens: 11 },
    { mediaType: "text/csv", bytes: 4_001, tokens: 1001 },
    { mediaType: undefined, bytes: 0, tokens: 0 },
  ])("$mediaType of $bytes bytes: $tokens", ({ mediaType, bytes, tokens }) => {
    expect(estimateMedia({ type: "media", mediaType, bytes, of: "content" })).toBe(tokens);
  });
});
