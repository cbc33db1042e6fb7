import { createChatMemory, type ModelMessage, system, toolResult } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { createAssistant, type Model, type Tools } from "../src/index.ts";
import { assistant, calling, scripted, toolCall, user } from "./script.ts";

// What docs/coming-from-langchain4j-ai-services.md says beyond the recorded cases.

describe("as in LangChain4j", () => {
  test.each(["", " ", "\n\t"])("a blank question is an error, and leaves nothing: %j", async (text) => {
    const memory = createChatMemory();
    const model = scripted(assistant("Hi"));
    const chat = createAssistant({ model, memory, systemMessage: "Be brief." });
    const wrong = {
      code: "INVALID_OPTION",
      message: expect.stringMatching(/^message must be text that is not blank/),
    };
    await expect(chat.chat(text)).rejects.toMatchObject(wrong);
    await expect(chat.stream(text).next()).rejects.toMatchObject(wrong);
    await expect(chat.chat(user(text))).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(chat.chat(user([]))).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect([await memory.messages(), model.requests]).toEqual([[], []]);
  });

  test.each(["", " \n"])("a blank system message is an error: %j", async (systemMessage) => {
    const wrong = {
      code: "INVALID_OPTION",
      message: expect.stringMatching(/^systemMessage must be text that is not blank/),
    };
    expect(() => createAssistant({ model: scripted(), systemMessage })).toThrow(
      expect.objectContaining(wrong),
    );
    const memory = createChatMemory();
    const chat = createAssistant({ model: scripted(), memory, systemMessage: () => systemMessage });
    await expect(chat.chat("Go")).rejects.toMatchObject(wrong);
    expect(await memory.messages()).toEqual([]);
  });

  test("a function that returns no system message keeps the one that is there", async () => {
    const memory = createChatMemory();
    await memory.add(system("Be brief."));
    const chat = createAssistant({
      model: scripted(assistant("Hi")),
      memory,
      systemMessage: () => undefined,
    });
    await chat.chat("Go");
    expect((await memory.messages())[0]).toEqual(system("Be brief."));
  });
});

describe("other than in LangChain4j", () => {
  test("a tool that returns nothing, or null, has answered null and not failed", async () => {
    const tools: Tools = {
      nothing: { inputSchema: {}, execute: () => undefined },
      none: { inputSchema: {}, execute: () => null },
    };
    const memory = createChatMemory();
    const model = scripted(calling(["c1", "nothing"], ["c2", "none"]), assistant("Done."));
    const { toolResults } = await createAssistant({ model, memory, tools }).chat("Go");
    expect(toolResults).toMatchObject([
      { output: null, isError: false },
      { output: null, isError: false },
    ]);
    expect((await memory.messages()).slice(2, 4)).toEqual([
      toolResult("c1", "nothing", null),
      toolResult("c2", "none", null),
    ]);
  });

  test("what moderates a model moderates its streams too", async () => {
    const moderated =
      (model: Model<ModelMessage>): Model<ModelMessage> =>
      async (request) => {
        await model(request);
        throw new Error("That violates the content policy.");
      };
    const memory = createChatMemory();
    const chat = createAssistant({ model: moderated(scripted(assistant("Here is how."))), memory });
    await expect(chat.stream("How is a bomb made?").next()).rejects.toThrow("content policy");
    expect(await memory.messages()).toEqual([]);
  });

  test("a streamed answer's calls run whether they were announced or not", async () => {
    const memory = createChatMemory();
    const silent = scripted(toolCall("c1", "t", {}), assistant("Done."));
    const tools: Tools = { t: { inputSchema: {}, execute: () => "r" } };
    const chat = createAssistant({ model: silent, memory, tools, toolConcurrency: 8 });
    const events: string[] = [];
    for await (const { type } of chat.stream("Go")) events.push(type);
    expect(events).toEqual(["tool-call", "tool-result", "text", "finish"]);
  });

  test("a negative limit of round trips is an error", () => {
    expect(() => createAssistant({ model: scripted(), maxRoundTrips: -1 })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("maxRoundTrips") }),
    );
  });
});
