import { asText } from "@turnkeep/core/format-kit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convert } from "../src/convert.ts";
import { sources } from "./conversion-sources.ts";
import { type AnyConversion, conversionOf, pairs } from "./conversions.ts";

const member = "zz_member";
const value = "what only one server knows";

/** The ids of one file by the names of those who hold it: each takes the one of its own. */
const isReference = (of: object, name: string | undefined): boolean =>
  !("type" in of) && ["data", "image", "reference", "fileId", "providerReference"].includes(name ?? "");

/** The paths of all objects in a message, its own first. */
function objectsIn(of: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof of !== "object" || of === null || of instanceof Uint8Array || of instanceof URL) return [];
  const below = Object.entries(of).flatMap(([name, inner]) => objectsIn(inner, [...path, name]));
  return Array.isArray(of) || isReference(of, path.at(-1)) ? below : [path, ...below];
}

function withMember(message: unknown, path: readonly string[], { format }: AnyConversion): unknown {
  // A URL, which a message may hold, cannot be cloned from Node 24 on.
  const copy: unknown = format.decode(format.encode(message));
  let at = copy as Record<string, unknown>;
  for (const name of path) at = at[name] as Record<string, unknown>;
  // Beside providers' names stand objects of their settings.
  at[member] = /(Options|Metadata)$/.test(path.at(-1) ?? "") ? { setting: value } : value;
  return copy;
}

function isMessage(message: unknown, { format }: AnyConversion): boolean {
  try {
    format.encode(message);
    return true;
  } catch {
    return false;
  }
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The types of the objects on the way to one. */
function typesAlong(message: unknown, path: readonly string[]): unknown[] {
  let at = message as Record<string, unknown>;
  return path.map((name) => {
    at = at[name] as Record<string, unknown>;
    return at.type;
  });
}

describe("a member that is not known", () => {
  it.each(pairs)("of %s arrives in %s, or is told", (from, to) => {
    const [own, other] = [conversionOf(from), conversionOf(to)];
    const losses = (one: unknown): string[] =>
      convert([one], { from: own, to: other }).lost.map(({ kind }) => kind);
    fc.assert(
      fc.property(sources[from] as fc.Arbitrary<unknown>, (message) => {
        const before = losses(message);
        for (const path of objectsIn(message)) {
          const marked = withMember(message, path, own);
          if (!isMessage(marked, own)) continue;
          const way = new Set([...path, ...path.map(camelCase), ...typesAlong(message, path)]);
          const isLostWithAll = before.some((kind) => {
            const [, ...inner] = kind.split(".");
            return inner.length === 0 || inner.some((name) => name === "media" || way.has(name));
          });
          const isTold = losses(marked).some((kind) => !before.includes(kind));
          const { messages } = convert([marked], { from: own, to: other });
          const arrives = asText(messages).includes(value);
          expect({ path, told: isLostWithAll || isTold || arrives }).toEqual({ path, told: true });
        }
      }),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 20) },
    );
  });
});

describe("what another member takes the place of", () => {
  const lost = (from: string, message: unknown): string[] =>
    convert([message], { from: conversionOf(from), to: conversionOf("ModelMessage") }).lost.map(
      ({ kind }) => kind,
    );
  const text = (ttl: string) => ({ type: "text", text: "a", cache_control: { type: "ephemeral", ttl } });

  it("is told of a system text's cache breakpoint, where the texts have different ones", () => {
    const system = (...content: unknown[]) => ({ role: "system", content });
    expect(lost("Anthropic", system(text("5m"), text("1h")))).toEqual(["text.anthropic.cacheControl"]);
    expect(lost("Anthropic", system(text("1h"), text("1h")))).toEqual([]);
  });

  it("is told of a breakpoint behind several blocks", () => {
    const { cache_control } = text("5m");
    const block = { type: "search_result", source: "s", title: "t", content: [], cache_control };
    expect(lost("Anthropic", { role: "user", content: [block] })).toContain("search_result.cache_control");
    const source = { type: "content", content: [{ type: "text", text: "a" }] };
    const document = { type: "document", source, cache_control };
    expect(lost("Anthropic", { role: "user", content: [document] })).toEqual(["document.cache_control"]);
  });

  it("is told of a breakpoint in a result that becomes one text", () => {
    const failed = { type: "tool_result", tool_use_id: "1", is_error: true, content: [text("5m")] };
    const told = ["tool_result.text.anthropic.cacheControl"];
    expect(lost("Anthropic", { role: "user", content: [failed] })).toEqual(told);
  });

  it("is told of a summary beside the reasoning itself", () => {
    const summary = [{ type: "summary_text", text: "In short." }];
    const content = [{ type: "reasoning_text", text: "Hm." }];
    expect(lost("Responses", { type: "reasoning", id: "r", summary, content })).toEqual([
      "reasoning.summary",
    ]);
    expect(lost("Responses", { type: "reasoning", id: "r", summary })).toEqual([]);
  });
});

describe("what JSON cannot hold", () => {
  const call = (input: unknown) => ({
    role: "assistant",
    content: [{ type: "tool-call", toolCallId: "1", toolName: "t", input }],
  });
  const result = (value: unknown) => ({
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "1", toolName: "t", output: { type: "json", value } }],
  });
  const converted = (to: string, ...messages: unknown[]) =>
    convert(messages, { from: conversionOf("ModelMessage"), to: conversionOf(to) });
  const noNumber = { a: [1, Number.NaN] };
  const bytes = { a: new Uint8Array([137, 80]) };

  it("is the same text for a Buffer, which writes itself otherwise", () => {
    const buffer = converted("OpenAI", call({ a: Buffer.from([137, 80]) }));
    expect(buffer).toEqual(converted("OpenAI", call(bytes)));
  });

  it.each(["OpenAI", "Responses", "LangChain4j"])(
    "stands in the input of a call, which is text: %s",
    (to) => {
      expect(converted(to, call(noNumber)).lost).toEqual([{ index: 0, kind: "tool-call.input" }]);
      const { messages, lost } = converted(to, call(bytes));
      expect(lost).toEqual([]);
      expect(JSON.stringify(messages)).toContain("iVA=");
    },
  );

  it.each(["OpenAI", "Responses", "Anthropic", "Ollama", "LangChain4j"])(
    "stands in a result, which is text: %s",
    (to) => {
      const { lost } = converted(to, call({}), result(noNumber));
      expect(lost).toEqual([{ index: 1, kind: "tool-result.output" }]);
      const { messages, lost: nothing } = converted(to, call({}), result(bytes));
      expect(nothing).toEqual([]);
      expect(JSON.stringify(messages)).toContain("iVA=");
    },
  );

  it("is told of where JSON beside a medium is read as text", () => {
    const image = { inlineData: { mimeType: "image/png", data: "aGk=" } };
    const response = { name: "t", id: "1", response: { output: noNumber }, parts: [image] };
    const contents = [
      { role: "model", parts: [{ functionCall: { name: "t", id: "1", args: {} } }] },
      { role: "user", parts: [{ functionResponse: response }] },
    ];
    expect(
      convert(contents, { from: conversionOf("Gemini"), to: conversionOf("ModelMessage") }).lost,
    ).toEqual([{ index: 1, kind: "functionResponse.response" }]);
  });
});
