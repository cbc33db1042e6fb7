import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from "ai6";
import { MockLanguageModelV3 } from "ai6/test";
import { expect, test } from "vitest";
import { createChatMemory, inMemoryStore } from "../src/index.ts";

type Answer = Extract<
  NonNullable<NonNullable<ConstructorParameters<typeof MockLanguageModelV3>[0]>["doGenerate"]>,
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

test("AI SDK 6: what generateText returns is stored, and is the next call's prompt", async () => {
  const calling = (id: string, city: string): Answer =>
    answer(
      [
        { type: "reasoning", text: "I look.", providerMetadata: { mock: { signature: `s-${id}` } } },
        { type: "tool-call", toolCallId: id, toolName: "weather", input: JSON.stringify({ city }) },
      ],
      "tool-calls",
    );
  const model = new MockLanguageModelV3({
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
    ...(first.system && { system: first.system }),
  });
  expect(result.steps).toHaveLength(3);
  expect(result.response.messages.map(({ role }) => role)).toEqual([
    "assistant",
    "tool",
    "assistant",
    "tool",
    "assistant",
  ]);
  await memory.add(...result.response.messages);

  // Another instance reads what the first one stored.
  const again = createChatMemory<ModelMessage>({ id: "chat", store });
  await again.add({ role: "user", content: "What did I ask?" });
  const second = await again.prompt();
  expect(second.messages.slice(1, -1)).toEqual(JSON.parse(JSON.stringify(result.response.messages)));
  const last = await generateText({
    model,
    tools: { weather },
    messages: second.messages,
    ...(second.system && { system: second.system }),
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
