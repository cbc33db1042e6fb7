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

  it.each([
    ["claude-sonnet-4-5", "anthropic"],
    ["anthropic/claude-opus-4.1", "anthropic"],
    ["us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic"],
    ["anthropic", "anthropic"],
    ["gemini-2.5-pro", "gemini"],
    ["google/gemini-2.5-flash", "gemini"],
  ])("says of %s that no tokenizer is published, and which bound there is: %s", (name, bound) => {
    expect(() => ruleOf(name)).toThrow(
      `No tokenizer of "${name}" is published. Use boundCounter("${bound}"): what it should not exceed.`,
    );
  });

  it.each([
    ["gpt-5-mini-2025-08-07", "patches-1.62-1536"],
    ["gpt-5.1", "tiles-70-140"],
    ["gpt-5.2-pro", "patches-1.2-1536"],
    ["gpt-5.3", "patches-1.2-1536"],
    ["gpt-5.4", "patches-1.2-2500"],
    ["gpt-5.5", "patches-1.2-2500-10000"],
    ["gpt-5.6-sol", "patches-1.2-2500-10000"],
    ["gpt-6-astra", "patches-1.2-2500-16384"],
    ["gpt-6.1-sol", "patches-1.2-2500-16384"],
    ["gpt-5.4-mini", "patches-1.62-1536"],
    ["gpt-5.4-nano", "patches-2.46-1536"],
    ["ft:gpt-4o-mini-2024-07-18:acme", "tiles-2833-5667"],
  ])("gives %s the images of the longest row that holds for it: %s", (model, images) => {
    expect(ruleOf(model).images.name).toBe(images);
  });

  it.each([
    ["gpt-7", "gpt-6"],
    ["gpt-12.1-mini", "gpt-6"],
    ["ft:gpt-7-2027-01-01:acme", "gpt-6"],
    ["o5-mini", "o4-mini"],
  ])("takes %s, newer than all of its family, for %s", (name, row) => {
    expect(ruleOf(name)).toEqual({ ...ruleOf(row), assumed: row });
  });

  it("names the models that there are, and none that is only the beginning of others", () => {
    expect(() => ruleOf("gpt-99")).toThrow(/\(gpt-5, .* gpt-5\.1, .* also with a suffix/);
    expect(() => ruleOf("gpt-99")).not.toThrow(/ gpt-5\.,/);
  });

  it("knows no encoding under two vocabularies", () => {
    expect(vocabularyOf("gpt2")).toBe("r50k_base");
    expect(vocabularyOf(ruleOf("gpt-oss-20b").encoding)).toBe("o200k_base");
  });
});
