import { type ChatMemory, createChatMemory, entry } from "@turnkeep/core";
import { convertToModelMessages as convert6, type UIMessage as UIMessage6 } from "ai6";
import { convertToModelMessages as convert7, type UIMessage as UIMessage7 } from "ai7";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";

interface Metadata {
  sentAt: Date;
}
type Data = { weather: { celsius: number } };
type Tools = { weather: { input: { city: string }; output: { celsius: number } } };
type Own6 = UIMessage6<Metadata, Data, Tools>;
type Own7 = UIMessage7<Metadata, Data, Tools>;

describe("types", () => {
  it("take the SDK's messages of both majors, with the application's own parts", () => {
    expectTypeOf<UIMessage6>().toExtend<UIMessageLike>();
    expectTypeOf<UIMessage7>().toExtend<UIMessageLike>();
    expectTypeOf<Own6>().toExtend<UIMessageLike>();
    expectTypeOf<Own7>().toExtend<UIMessageLike>();
  });

  it("give them back as what they were", () => {
    const memory6 = createChatMemory({ format: uiMessageFormat<Own6>() });
    expectTypeOf(memory6).toEqualTypeOf<ChatMemory<Own6>>();
    const memory7 = createChatMemory({ format: uiMessageFormat<Own7>() });
    expectTypeOf(memory7).toEqualTypeOf<ChatMemory<Own7>>();
    const typed = async (message6: Own6, message7: Own7): Promise<void> => {
      await memory6.add(entry(message6, { id: message6.id }));
      await convert6<Own6>(await memory6.messages(), {
        convertDataPart: (part) => ({ type: "text", text: `${part.data.celsius} degrees` }),
      });
      await memory7.put(message7.id, message7);
      await convert7(await memory7.messages(), { ignoreIncompleteToolCalls: true });
      await convert7((await memory7.prompt()).messages);
      // @ts-expect-error: a UI message has no tool role
      await memory7.add({ id: "m", role: "tool", parts: [] });
      // @ts-expect-error: no such tool
      await memory7.add({ id: "m", role: "assistant", parts: [{ type: "tool-time", toolCallId: "c" }] });
      // @ts-expect-error: the majors are not assignable to each other
      await memory6.add(message7);
    };
    expect(typed).toBeTypeOf("function");
  });

  it("take the function that convertToModelMessages takes", () => {
    const convertDataPart = (part: { type: "data-weather"; data: { celsius: number } }) => ({
      type: "text" as const,
      text: `${part.data.celsius} degrees`,
    });
    const format = uiMessageFormat<Own7>({ convertDataPart });
    const typed = (messages: Own7[]) => convert7<Own7>(messages, { convertDataPart });
    expect(typed).toBeTypeOf("function");
    expect(
      format.pieces({
        id: "m",
        role: "user",
        metadata: { sentAt: new Date(0) },
        parts: [{ type: "data-weather", data: { celsius: 4 } }],
      }),
    ).toEqual([{ type: "text", text: "4 degrees", of: "content" }]);
  });
});
