import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from "ai7";
import { MockLanguageModelV4 } from "ai7/test";
import { expect, test } from "vitest";
import { createChatMemory, inMemoryStore } from "../src/index.ts";

type Answer = Extract<
  NonNullable<NonNullable<ConstructorParameters<typeof MockLanguageModelV4>[0]>["doGenerate"]>,
  readonly unknown[]
>[number];

function answer(content: Answer["content"], finish: "stop" | "tool-calls"): Answer {
  return {
    content,
    finishReason: { unified: finish, raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 5, text: 5, reasoning: 0 },
    },
    warnings: [],
  };
}

const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
  execute: async ({ city }) => ({ city, celsius: 4 }),
});

// The SDK asks for Node 22 and newer; it runs on Node 20 as well, so that nothing is left out there.
test("AI SDK 7: what generateText returns is stored, and is the next call's prompt", async () => {
  const calling = (id: string, city: string): Answer =>
    answer(
      [
        { type: "reasoning", text: "I look.", providerMetadata: { mock: { signature: `s-${id}` } } },
        { type: "tool-call", toolCallId: id, toolName: "weather", input: JSON.stringify({ city }) },
      ],
      "tool-calls",
    );
  const model = new MockLanguageModelV4({
    doGenerate: [
      calling("call-1", "Oslo"),
      calling("call-2", "Rome"),
      answer([{ type: "text", text: "4 degrees." }], "stop"),
      answer([{ type: "text", text: "You asked about Oslo." }], "stop"),
    ],
  });
  const store = inMemoryStore();
  const memory = createChatMemory<ModelMessage>({ id: "chat", store });
  await memory.add(
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "file", data: Uint8Array.of(1, 2), mediaType: "image/png" }] },
  );

  const first = await memory.prompt();
  const result = await generateText({
    model,
    tools: { weather },
    stopWhen: stepCountIs(5),
    messages: first.messages,
    ...(first.system && { instructions: first.system }),
  });
  expect(result.steps).toHaveLength(3);
  expect(result.responseMessages.map(({ role }) => role)).toEqual([
    "assistant",
    "tool",
    "assistant",
    "tool",
    "assistant",
  ]);
  await memory.add(...result.responseMessages);

  // Another instance reads what the first one stored.
  const again = createChatMemory<ModelMessage>({ id: "chat", store });
  await again.add({ role: "user", content: "What did I ask?" });
  const second = await again.prompt();
  expect(second.messages.slice(1, -1)).toEqual(JSON.parse(JSON.stringify(result.responseMessages)));
  const last = await generateText({
    model,
    tools: { weather },
    messages: second.messages,
    ...(second.system && { instructions: second.system }),
  });
  expect(last.text).toBe("You asked about Oslo.");

  // The model is sent what it was sent in the step before, with its answer and the new question after it.
  const [, , third, fourth] = model.doGenerateCalls.map(({ prompt }) => prompt);
  expect(third).toHaveLength(6);
  expect(fourth?.slice(0, 6)).toEqual(third);
  expect(fourth?.slice(6).map(({ role }) => role)).toEqual(["assistant", "user"]);
  expect(third?.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
  ]);
});
