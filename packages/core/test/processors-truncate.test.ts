import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import {
  type ModelMessage,
  modelMessageFormat,
  type TokenCounter,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { applyProcessors, truncateToolResults } from "../src/processors.ts";

const tokens = (text: string): number => encode(text, { disallowedSpecial: new Set() }).length;

/** A counter as users have it: so many tokens a text, and some for each message. */
const counter: TokenCounter = {
  name: "o200k",
  base: 3,
  count: (message, format) =>
    format
      .pieces(message)
      .reduce((sum, piece) => sum + (piece.type === "text" ? tokens(piece.text) : 100), 4),
};

const words = (count: number): string =>
  Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

function outputOf(messages: readonly ModelMessage[]): { readonly type: string; readonly value: string } {
  const { content } = messages.at(-1) as unknown as {
    content: { output: { type: string; value: string } }[];
  };
  return (content[0] as (typeof content)[number]).output;
}

async function cut(
  result: string,
  options: Omit<Parameters<typeof truncateToolResults>[0], "counter">,
): Promise<string> {
  const messages = [toolCall("1", "read", {}), toolResult("1", "read", result)];
  return outputOf(
    await applyProcessors<ModelMessage>(messages, [truncateToolResults({ ...options, counter })]),
  ).value;
}

describe("truncateToolResults", () => {
  test("keeps the beginning and the end, and says how much is left out between", async () => {
    const text = words(1000);
    const shown = await cut(text, { maxTokens: 100 });
    const [, head = "", left, tail = ""] =
      /^([\s\S]*)\n\[… (\d+) characters left out …\]\n([\s\S]*)$/.exec(shown) ?? [];
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
    expect(head.length + Number(left) + tail.length).toBe(text.length);
    expect(tokens(shown)).toBeLessThanOrEqual(100);
    expect(tokens(shown)).toBeGreaterThan(85);
    expect(tokens(head) / tokens(tail)).toBeGreaterThan(2);
  });

  test("leaves alone what fits, to the token, and all that is no result", async () => {
    const text = words(40);
    const count = tokens(text);
    expect(await cut(text, { maxTokens: count })).toBe(text);
    expect(await cut(text, { maxTokens: count - 1 })).not.toBe(text);
    const messages: ModelMessage[] = [user(words(500)), toolCall("1", "read", { text: words(500) })];
    const shown = await applyProcessors(messages, [truncateToolResults({ maxTokens: 50, counter })]);
    expect(shown.every((message, index) => message === messages[index])).toBe(true);
  });

  test("keeps as much of each end as it is told", async () => {
    const text = words(1000);
    const halves = (shown: string): string[] => shown.split(/\n\[… \d+ characters left out …\]\n/);
    const [head = "", tail = ""] = halves(await cut(text, { maxTokens: 200, head: 20, tail: 60 }));
    expect([tokens(head), tokens(tail)]).toEqual([20, 60]);
    expect(halves(await cut(text, { maxTokens: 200, tail: 0 }))[1]).toBe("");
    expect(halves(await cut(text, { maxTokens: 200, head: 0 }))[0]).toBe("");
    expect(tokens(halves(await cut(text, { maxTokens: 200, head: 30 }))[1] ?? "")).toBeGreaterThan(140);
    expect(tokens(halves(await cut(text, { maxTokens: 200, tail: 30 }))[0] ?? "")).toBeGreaterThan(140);
  });

  test("makes a text of a result that was JSON, and cuts each text of a result by itself", async () => {
    const json = toolResult("1", "read", { words: words(500) });
    const [, shown] = await applyProcessors<ModelMessage>(
      [toolCall("1", "read", {}), json],
      [truncateToolResults({ maxTokens: 60, counter })],
    );
    expect(outputOf([shown as ModelMessage])).toMatchObject({
      type: "text",
      value: expect.stringMatching(/^\{"words":"word0 word1/) as string,
    });
    const content = [words(500), "short", words(300)].map((text) => ({ type: "text" as const, text }));
    const several = toolResult("1", "read", "");
    Object.assign(several.content[0] as object, { output: { type: "content", value: content } });
    const [all] = await applyProcessors<ModelMessage>(
      [several],
      [truncateToolResults({ maxTokens: 60, counter })],
    );
    const value = outputOf([all as ModelMessage]).value as unknown as { text: string }[];
    expect(value.map(({ text }) => tokens(text) <= 60)).toEqual([true, true, true]);
    expect(value.map(({ text }) => text.includes("left out"))).toEqual([true, false, true]);
  });

  test("any text comes out within the limit, whole characters, and the same when it is cut again", async () => {
    const text = fc.array(
      fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.constantFrom("😀😀", "\n\n", "    ", "漢字", "a".repeat(30)),
      ),
      {
        maxLength: 60,
      },
    );
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 20, max: 60 }), async (parts, maxTokens) => {
        const result = parts.join("");
        const shown = await cut(result, { maxTokens });
        expect(tokens(shown)).toBeLessThanOrEqual(maxTokens);
        if (tokens(result) <= maxTokens) expect(shown).toBe(result);
        expect(/\p{Surrogate}/u.test(shown)).toBe(false);
        expect(await cut(shown, { maxTokens })).toBe(shown);
      }),
    );
  });

  test("makes room where the pieces cost more together than alone", async () => {
    const joining: TokenCounter = {
      name: "joining",
      count: (message, format) =>
        format
          .pieces(message)
          .map((piece) => (piece.type === "text" ? piece.text : ""))
          .reduce((sum, text) => sum + Math.ceil(text.length / 4) + (/a\n\[/.test(text) ? 20 : 0), 0),
    };
    const processor = truncateToolResults({ maxTokens: 60, counter: joining });
    const shown = await applyProcessors<ModelMessage>(
      [toolResult("1", "read", "a".repeat(900))],
      [processor],
    );
    const { value } = outputOf(shown);
    expect(value).toMatch(/a\n\[/);
    expect(Math.ceil(value.length / 4) + 20).toBeLessThanOrEqual(60);
  });

  test("reads no more of a long text than its limit asks for", async () => {
    let characters = 0;
    const counting: TokenCounter = {
      name: "counting",
      count: (message, format) => {
        const texts = format.pieces(message).map((piece) => (piece.type === "text" ? piece.text : ""));
        for (const text of texts) characters += text.length;
        return texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
      },
    };
    const read = async (length: number): Promise<number> => {
      const processor = truncateToolResults({ maxTokens: 500, counter: counting });
      characters = 0;
      await applyProcessors<ModelMessage>([toolResult("1", "read", "x".repeat(length))], [processor]);
      return characters;
    };
    // The notice names a longer number.
    expect((await read(10_000_000)) - (await read(100_000))).toBeLessThan(10);
    expect(await read(10_000_000)).toBeLessThan(200_000);
  });

  test("asks for a format that can change texts", async () => {
    const { mapText: _, ...bare } = modelMessageFormat;
    const run = applyProcessors<ModelMessage>(
      [user("a")],
      [truncateToolResults({ maxTokens: 50, counter })],
      {
        format: bare,
      },
    );
    await expect(run).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringMatching(
        /"truncate-tool-results" needs .* mapText; the format "model-message"/,
      ) as string,
    });
  });

  test.each<[string, object]>([
    ["no limit", { counter }],
    ["no counter", { maxTokens: 100 }],
    ["a limit that has no room for the notice", { maxTokens: 5, counter }],
    ["a negative head", { maxTokens: 100, head: -1, counter }],
    ["a tail that is no whole number", { maxTokens: 100, tail: 1.5, counter }],
    ["a head and a tail that are too long together", { maxTokens: 100, head: 60, tail: 40, counter }],
    ["a head that leaves nothing", { maxTokens: 100, head: 99, counter }],
  ])("refuses %s", (_, options) => {
    expect(() => truncateToolResults(options as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });
});
