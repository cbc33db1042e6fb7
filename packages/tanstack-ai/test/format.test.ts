import { convertMessagesToModelMessages, type ModelMessage, modelMessagesToUIMessages } from "@tanstack/ai";
import { checkFormat } from "@turnkeep/conformance";
import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { redact, stripMedia, stripReasoning } from "@turnkeep/core/processors";
import { anthropic, strict, validate } from "@turnkeep/formats/profiles";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { tanstackFormat } from "../src/index.ts";

const asked = {
  id: "c1",
  type: "function" as const,
  function: { name: "weather", arguments: '{"city":"Oslo"}' },
};
const png = { type: "data" as const, value: "AAAA", mimeType: "image/png" };

/** A message of each kind, with every part that the SDK knows, and some that it does not. */
const samples = {
  question: { role: "user", content: "How warm is it in °C?", id: "q1", name: "Ann", createdAt: new Date(7) },
  parts: {
    role: "user",
    content: [
      { type: "text", content: "Look, 4 °C:", metadata: { cache: true } },
      { type: "image", source: png, metadata: { detail: "low" } },
      { type: "audio", source: { type: "url", value: "https://example.org/a.mp3" } },
      { type: "video", source: { type: "url", value: "https://example.org/a.mp4", mimeType: "video/mp4" } },
      { type: "document", source: { type: "url", value: "data:application/pdf;base64,AAAA" } },
    ],
  },
  unknownPart: { role: "user", content: [{ type: "hologram", body: "4 °C" }] as never },
  answer: { role: "assistant", content: "4 °C.", id: "a1", metadata: { tanstack: { model: "m" }, app: [1] } },
  call: { role: "assistant", content: null, toolCalls: [asked] },
  thoughtful: {
    role: "assistant",
    content: "Let me see.",
    thinking: [
      { content: "Is it 4 °C?", signature: "c2ln" },
      { content: "", signature: "c2ln" },
    ],
    toolCalls: [
      { ...asked, id: "c2", metadata: { thoughtSignature: "c2ln" } },
      { ...asked, id: "c3" },
    ],
  },
  servers: {
    role: "assistant",
    content: "Found.",
    toolCalls: [{ ...asked, id: "s1", metadata: { providerExecuted: true, anthropic: { result: "4 °C" } } }],
  },
  structured: {
    role: "assistant",
    content: '{"degrees":4}',
    structuredOutput: {
      type: "structured-output",
      status: "complete",
      data: { degrees: 4 },
      raw: '{"degrees":4}',
    },
  },
  nothing: { role: "assistant", content: null },
  result: { role: "tool", toolCallId: "c1", content: '{"degrees":"4 °C"}' },
  partsResult: { role: "tool", toolCallId: "c2", name: "weather", content: [{ type: "image", source: png }] },
  failed: { role: "tool", toolCallId: "c3", content: "No 4 °C.", error: "away" },
  instructions: { role: "system" as never, content: "Say °C." },
} satisfies Record<string, ModelMessage>;

const { question, call, thoughtful, parts, answer } = samples;
const again = (message: ModelMessage): ModelMessage => tanstackFormat.decode(tanstackFormat.encode(message));

it("keeps what a format promises", () => {
  checkFormat(tanstackFormat, Object.values(samples));
});

it.each(Object.entries(samples))("brings back %s to the last member", (_, message) => {
  expect(again(message)).toEqual(message);
});

const text = fc.string({ unit: "binary" });
const json = fc.jsonValue({ depthSize: "small" });
const source = fc.oneof(
  fc.record({ type: fc.constant("data"), value: fc.base64String(), mimeType: text }),
  fc.record({ type: fc.constant("url"), value: fc.webUrl() }),
);
const part = fc.oneof(
  fc.record({ type: fc.constant("text"), content: text, metadata: json }),
  fc.record({ type: fc.constantFrom("image", "audio", "video", "document"), source, metadata: json }),
);
const content = fc.oneof(text, fc.constant(null), fc.array(part));
const own = {
  id: text,
  createdAt: fc.date({ noInvalidDate: true }),
  metadata: fc.dictionary(text, json),
  name: text,
};
const id = fc.string({ minLength: 1 });
const toolCall = fc.record({
  id,
  type: fc.constant("function"),
  function: fc.record({ name: id, arguments: text }),
  metadata: fc.oneof(json, fc.record({ providerExecuted: fc.constant(true), found: json })),
});
const thought = fc.record({ content: text, signature: text }, { requiredKeys: ["content"] });
const any = fc.oneof(
  fc.record({ role: fc.constant("user"), content, ...own }, { requiredKeys: ["role", "content"] }),
  fc.record(
    {
      ...{ role: fc.constant("assistant"), content, ...own },
      ...{ toolCalls: fc.array(toolCall), thinking: fc.array(thought), structuredOutput: json },
    },
    { requiredKeys: ["role", "content"] },
  ),
  fc.record(
    { role: fc.constant("tool"), toolCallId: id, content, error: text, ...own },
    { requiredKeys: ["role", "toolCallId", "content"] },
  ),
) as unknown as fc.Arbitrary<ModelMessage>;

it("brings back every kind of message, and reads it without failing", () => {
  fc.assert(
    fc.property(any, (message) => {
      expect(tanstackFormat.equals(again(message), message)).toBe(true);
      expect(again(message)).toEqual(message);
      for (const piece of tanstackFormat.pieces(message)) expect(piece.of).toBeTypeOf("string");
      const changed = tanstackFormat.mapText?.(message, (text) => text.toUpperCase()) as ModelMessage;
      tanstackFormat.encode(changed);
      for (const omission of [{ reasoning: true }, { media: true }, { toolCalls: () => true }]) {
        const left = tanstackFormat.without(message, omission);
        if (left !== undefined) tanstackFormat.encode(left);
      }
    }),
  );
});

it("brings the browser's messages back as the SDK makes them of what is stored", () => {
  const said = [
    question,
    parts,
    thoughtful,
    samples.partsResult,
    samples.failed,
    samples.structured,
  ] as ModelMessage[];
  const page = modelMessagesToUIMessages(said.map((message, at) => ({ ...message, id: `m${at}` })));
  const stored = convertMessagesToModelMessages(page).map(again);
  expect(modelMessagesToUIMessages(stored)).toEqual(page);
});

it.each([
  ["no message", "Hello", /Give an object/],
  ["a browser's message", { id: "1", role: "user", parts: [] }, /UIMessage/],
  ["another role", { role: "private", content: "Hello" }, /as role/],
  ["content that is no list", { role: "user", content: 7 }, /as content/],
  ["a part without a type", { role: "user", content: [{ content: "private" }] }, /content\[0\]/],
  [
    "a part without its text",
    { role: "user", content: [{ type: "text", text: "private" }] },
    /content\[0\]\.content/,
  ],
  ["an image without a source", { role: "user", content: [{ type: "image" }] }, /content\[0\]\.source/],
  ["calls that are no list", { ...call, toolCalls: "private" }, /toolCalls/],
  ["a call that is none", { ...call, toolCalls: ["private"] }, /toolCalls\[0\]/],
  ["a call without an id", { ...call, toolCalls: [{ ...call.toolCalls[0], id: "" }] }, /toolCalls\[0\]\.id/],
  ["a call without a name", { ...call, toolCalls: [{ id: "1", function: {} }] }, /function\.name/],
  ["a call without arguments", { ...call, toolCalls: [{ id: "1", function: { name: "a" } }] }, /arguments/],
  ["a thought without words", { ...answer, thinking: [{}] }, /thinking\[0\]/],
  ["a result of no call", { role: "tool", content: "private" }, /toolCallId/],
])("refuses %s", (_, message, says) => {
  const encode = () => tanstackFormat.encode(message as never);
  expect(encode).toThrow(says);
  expect(encode).not.toThrow(/private/);
  try {
    encode();
  } catch (error) {
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
  }
});

it("shows a provider what it accepts, with a result for each call that was cut off", async () => {
  const memory = createChatMemory({ format: tanstackFormat });
  await memory.add(question, thoughtful, question, question);
  for (const profile of [anthropic, strict]) {
    const view = await memory.messages({ profile });
    const idsOf = (list: "toolCalls" | "toolResults") =>
      view.flatMap((message) => tanstackFormat[list](message).map(({ id }) => id));
    expect(idsOf("toolResults")).toEqual(idsOf("toolCalls"));
    for (const message of view) tanstackFormat.encode(message);
    expect(validate(view, profile, { format: tanstackFormat })).toEqual([]);
  }
});

it("tells media by their sources, and what the provider runs itself", () => {
  expect(tanstackFormat.pieces(parts).filter(({ type }) => type === "media")).toEqual([
    { type: "media", mediaType: "image/png", bytes: 3, data: "AAAA", detail: "low", of: "content" },
    { type: "media", mediaType: "audio/*", bytes: undefined, of: "content" },
    { type: "media", mediaType: "video/mp4", bytes: undefined, of: "content" },
    { type: "media", mediaType: "application/pdf", bytes: 3, data: "AAAA", of: "content" },
  ]);
  expect(tanstackFormat.toolCalls(samples.servers)).toEqual([
    { id: "s1", name: "weather", providerExecuted: true },
  ]);
  expect(tanstackFormat.toolCalls(call)).toEqual([{ id: "c1", name: "weather" }]);
  expect(tanstackFormat.without(thoughtful, { toolCalls: () => true })).not.toHaveProperty("toolCalls");
  const silent = (message: ModelMessage) =>
    tanstackFormat.withResultText?.({ ...message, content: "" }, "It failed.", "Nothing.")?.content;
  expect([samples.failed, samples.result].map(silent)).toEqual(["It failed.", "Nothing."]);
});

it("joins what one speaker says, with the calls at the end", () => {
  const join = tanstackFormat.joined as NonNullable<typeof tanstackFormat.joined>;
  const two: ModelMessage = { role: "user", content: "Two." };
  expect(join({ role: "user", content: "One.", id: "1" }, two)?.content).toEqual([
    { type: "text", content: "One." },
    { type: "text", content: "Two." },
  ]);
  expect(join(answer, call)?.toolCalls).toEqual(call.toolCalls);
  expect(join(call, call)?.content).toBeNull();
  for (const [first, second] of [
    [call, answer],
    [answer, thoughtful],
    [question, two],
    [answer, two],
    [samples.result, samples.result],
  ] as [ModelMessage, ModelMessage][]) {
    expect(join(first, second)).toBeUndefined();
  }
});

it("changes and leaves out what a model reads, wherever it stands", async () => {
  const redacting = redact({ patterns: [/°C/], replacement: "…" });
  const memory = createChatMemory({ format: tanstackFormat, processors: [redacting] });
  const { call: _, ...others } = samples;
  await memory.add(...(Object.values(others) as ModelMessage[]));
  expect(JSON.stringify(await memory.messages())).not.toContain("°C");
  const bare = createChatMemory({ format: tanstackFormat, processors: [stripReasoning(), stripMedia()] });
  await bare.add(parts, thoughtful);
  const shown = JSON.stringify(await bare.messages());
  expect(shown).not.toContain("thinking");
  expect(shown).not.toContain("AAAA");
});
