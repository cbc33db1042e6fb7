import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { vocabularyOf } from "../src/encoding.ts";
import { ruleOf } from "../src/models.ts";

const { models } = JSON.parse(
  readFileSync(new URL("./vectors/tiktoken-models.json", import.meta.url), "utf8"),
) as { readonly models: Readonly<Record<string, string>> };

/** Models of the completions API, which take no messages; their encodings are there by name. */
const retired = (encoding: string): boolean => /^(?:p50k|r50k|gpt2)/.test(encoding);

describe("ruleOf", () => {
  it("gives every model the encoding that tiktoken gives it, or none", () => {
    const [known, left] = [new Set<string>(), new Set<string>()];
    for (const [model, encoding] of Object.entries(models)) {
      if (retired(encoding)) {
        left.add(model);
        expect(() => ruleOf(model === "gpt2" ? "gpt-2" : model)).toThrow("Unknown encoding or model");
      } else {
        known.add(model);
        expect([model, ruleOf(model).encoding]).toEqual([model, encoding]);
      }
    }
    expect(known.size).toBeGreaterThan(40);
    expect(left.size).toBeGreaterThan(20);
  });

  it.each([
    "gpt-4x",
    "gpt-4.2",
    "gpt-40",
    "o",
    "o10",
    "o4",
    "gpt",
    "gpt-4omni",
    "ft:",
    "ft:claude:x",
    "toString",
  ])("takes %s for no model", (name) => {
    expect(() => ruleOf(name)).toThrow("Unknown encoding or model");
  });

  it("knows no encoding under two vocabularies", () => {
    expect(vocabularyOf("gpt2")).toBe("r50k_base");
    expect(vocabularyOf(ruleOf("gpt-oss-20b").encoding)).toBe("o200k_base");
  });
});
