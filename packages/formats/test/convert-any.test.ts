import type { MessageFormat } from "@turnkeep/core";
import { asText } from "@turnkeep/core/format-kit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convert } from "../src/convert.ts";
import { sources } from "./conversion-sources.ts";
import { conversionOf, normal, pairs } from "./conversions.ts";

/** A loss of a setting or a name, which takes no text, medium, call or result with it. */
const isOfMember =
  /^message\.|\.(x_vendor|parsed|annotations|__proto__|\$turnkeep|providerOptions|citations|logprobs|caller|namespace|async|toolset_name|prompt_cache_breakpoint|transformations|revisedPrompt|error|input|(anthropic|openai)\.(?!signature|redacted|reasoning|context).*)$/;

describe("any messages", () => {
  it.each(pairs)("of %s become valid ones of %s, and what does not is told", (from, to) => {
    const [own, other] = [conversionOf(from), conversionOf(to)];
    const message = sources[from] as fc.Arbitrary<unknown>;
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 3 }), (messages) => {
        const encoded = (): string[] => messages.map((one) => own.format.encode(one));
        const before = encoded();
        const { messages: written, lost } = convert(messages, { from: own, to: other });
        expect(encoded()).toEqual(before);
        for (const one of written) other.format.encode(one);
        expect(convert(messages, { from: own, to: other })).toEqual({ messages: written, lost });
        const places = lost.map(({ index, kind }) => `${index} ${kind}`);
        expect(new Set(places).size).toBe(places.length);
        for (const { index, kind } of lost) {
          expect(index).toBeGreaterThanOrEqual(0);
          expect(index).toBeLessThan(messages.length);
          expect(typeof kind).toBe("string");
        }
        const target = shown(written, other.format);
        const json = asText(written);
        messages.forEach((one, index) => {
          const own_ = lost.filter((loss) => loss.index === index && !isOfMember.test(loss.kind));
          if (own_.length === 0) arrives(shown([one], own.format), target, json);
        });
      }),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 20) },
    );
  });
});

interface Shown {
  readonly texts: readonly string[];
  readonly media: number;
  readonly calls: readonly string[];
  readonly results: number;
}

function shown<M>(messages: readonly M[], format: MessageFormat<M>): Shown {
  const pieces = messages.flatMap((message) => format.pieces(message));
  return {
    texts: pieces.flatMap((piece) => (piece.type === "text" && piece.of !== "name" ? [piece.text] : [])),
    media: pieces.filter((piece) => piece.type === "media").length,
    calls: messages.flatMap((message) => format.toolCalls(message).map(({ name }) => name)),
    results: messages.flatMap((message) => format.toolResults(message)).length,
  };
}

/** A file of text that Anthropic or Bedrock holds as that text. */
const textDocument = /"source":\{"(?:text":|type":"text")/g;

/** Whether the target tells all that the source does; it may join texts, write JSON its own way, and hold files as files. */
function arrives(source: Shown, target: Shown, json: string): void {
  const all = target.texts.flatMap((text) => [text, normal(text)]).join("\n");
  for (const text of source.texts) {
    if (text.trim() === "" || text.startsWith('{"type":"custom"')) continue;
    const inJson = JSON.stringify(text).slice(1, -1);
    // A text that is a JSON value is written as one, and stands in the message's JSON.
    const inValue = JSON.stringify(inJson).slice(1, -1);
    const inFile = Buffer.from(text).toString("base64");
    const isThere = [text, normal(text)].some((form) => all.includes(form));
    expect(isThere || [inJson, inValue, inFile].some((form) => json.includes(form))).toBe(true);
  }
  const held = target.media + (json.match(textDocument)?.length ?? 0);
  expect(held).toBeGreaterThanOrEqual(source.media);
  expect(target.results).toBeGreaterThanOrEqual(source.results);
  for (const name of source.calls) expect(target.calls).toContain(name);
}
