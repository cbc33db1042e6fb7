import {
  assistant,
  type MessageFormat,
  type ModelMessageLike,
  modelMessageFormat,
  user,
} from "@turnkeep/core";
import { toolCallFilter } from "@turnkeep/core/processors";
import { expect, test } from "vitest";
import { convert, modelMessageConversion } from "../src/convert.ts";
import {
  openaiResponsesConversion,
  openaiResponsesFormat,
  type ResponsesItem,
} from "../src/openai-responses.ts";
import { gemini, openai, openaiResponses, validate } from "../src/profiles.ts";

/** Work that grows with the square of what is given, counted: times would depend on the machine. */

function upTo<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function reasoning(id: string): ResponsesItem {
  return { type: "reasoning", id, summary: [{ type: "summary_text", text: "Hm." }] };
}

test("many messages of a user in a row become one by halves", () => {
  let held = 0;
  const sizeOf = ({ content }: ModelMessageLike): number =>
    typeof content === "string" ? 1 : content.length;
  const format: MessageFormat<ModelMessageLike> = {
    ...modelMessageFormat,
    joined: (first, second) => {
      held += sizeOf(first) + sizeOf(second);
      return modelMessageFormat.joined?.(first, second);
    },
  };
  const { messages } = gemini.shape(
    upTo(512, (index) => user(`${index}`)),
    format,
  );
  expect(messages.map(({ content }) => content.length)).toEqual([512]);
  expect(held).toBe(9 * 512);
});

/** The format, and how often it was asked whether a message holds reasoning. */
function askedForReasoning(): MessageFormat<ResponsesItem> & { asked: number } {
  const format = {
    ...openaiResponsesFormat,
    asked: 0,
    hasReasoning: (item: ResponsesItem) => {
      format.asked++;
      return openaiResponsesFormat.hasReasoning(item);
    },
  };
  return format;
}

test("validating reasoning in a row asks about each item a few times", () => {
  const format = askedForReasoning();
  const items = [
    { role: "user" as const, content: "?" },
    ...upTo(300, (index) => reasoning(`rs-${index}`)),
    { role: "assistant" as const, content: "!" },
  ];
  expect(validate(items, openaiResponses, { format })).toEqual([]);
  expect(format.asked).toBeLessThan(10 * items.length);
});

test("filtering calls behind reasoning in a row asks about each item a few times", async () => {
  const format = askedForReasoning();
  const items: ResponsesItem[] = [
    { role: "user", content: "?" },
    ...upTo(300, (index) => reasoning(`rs-${index}`)),
    { type: "function_call", call_id: "a", name: "t", arguments: "{}" },
    { type: "function_call_output", call_id: "a", output: "1" },
    { role: "assistant", content: "!" },
  ];
  const signal = new AbortController().signal;
  const shown = await toolCallFilter({ keepLastSteps: 0 }).process(items, { format, signal });
  expect(shown).toEqual([items[0], items.at(-1)]);
  expect(format.asked).toBeLessThan(10 * items.length);
});

test("converting reasoning in a row looks at each part a few times", () => {
  let looks = 0;
  const counted = <T extends { readonly type: string }>(part: T): T => ({
    ...part,
    get type() {
      looks++;
      return part.type;
    },
  });
  const items = upTo(300, (index) => counted(reasoning(`rs-${index}`) as { type: string }) as ResponsesItem);
  convert([{ role: "user", content: "?" }, ...items, { role: "assistant", content: "!" }], {
    from: openaiResponsesConversion,
    to: modelMessageConversion,
  });
  expect(looks).toBeLessThan(30 * 300);

  looks = 0;
  const parts = upTo(300, (index) =>
    counted({ type: "reasoning", text: `${index}`, providerOptions: { openai: { itemId: "rs" } } }),
  );
  convert([user("?"), assistant([...parts, { type: "text", text: "!" }] as never)], {
    from: modelMessageConversion,
    to: openaiResponsesConversion,
  });
  expect(looks).toBeLessThan(30 * 300);
});

test("a message of more texts than a call may have arguments is measured", () => {
  const text = (length: number): { type: "text"; text: string } => ({
    type: "text",
    text: "x".repeat(length),
  });
  const texts = upTo(200_000, () => text(1));
  expect(openai.shape([user(texts)], modelMessageFormat).messages).toHaveLength(1);
});
