import { type ChatMemory, createChatMemory, entry, type MessageFormat } from "@turnkeep/core";
import type OpenAI from "openai";
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
  ResponseOutputItem,
} from "openai/resources/responses/responses";
import type OpenAI6 from "openai6";
import { describe, expect, expectTypeOf, it } from "vitest";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";

/** Assigned rather than compared: expect-type gives up on a union of this size. */
const toOwn = (item: ResponseInputItem): ResponsesItem => item;
const toSdk = (item: ResponsesItem): ResponseInputItem => item;
const toInput = (items: ResponsesItem[]): ResponseCreateParamsNonStreaming["input"] & object => items;
/** These two the SDK's own input does not take back either; the model puts out none. */
type NoInput = "computer_call_output" | "additional_tools";
const fromOutput = (item: Exclude<ResponseOutputItem, { type: NoInput }>): ResponsesItem => item;
// @ts-expect-error: a whole response is no item
const fromResponse = (response: Response): ResponsesItem => response;

describe("types", () => {
  it("are assignable from and to those of the openai package", () => {
    for (const assign of [toOwn, toSdk, toInput, fromOutput, fromResponse])
      expect(assign).toBeTypeOf("function");
  });

  it("let a memory speak the application's own type", async () => {
    const memory = createChatMemory({ format: openaiResponsesFormat });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<ResponsesItem>>();
    const own = createChatMemory<ResponseInputItem>({ format: openaiResponsesFormat });
    expectTypeOf(own).toEqualTypeOf<ChatMemory<ResponseInputItem>>();
    const typed = async (client: OpenAI): Promise<Response> => {
      const response = await client.responses.create({ model: "m", input: await memory.messages() });
      await memory.add(...(response.output as ResponsesItem[]));
      const item: ResponsesItem = { role: "user", content: "x" };
      await memory.add(entry(item, { id: "m-1" }));
      // @ts-expect-error: no item of the API
      await memory.add({ role: "robot", content: "x" });
      return response;
    };
    expect(typed).toBeTypeOf("function");
  });

  it("let a memory speak the type of major 6, which knows less, where the format is said to", () => {
    type Item = OpenAI6.Responses.ResponseInputItem;
    const memory = createChatMemory({ format: openaiResponsesFormat as MessageFormat<Item> });
    expectTypeOf(memory).toEqualTypeOf<ChatMemory<Item>>();
    expect(memory.format).toBe(openaiResponsesFormat);
  });
});
