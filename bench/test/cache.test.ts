import { modelMessageFormat, system, toolResult, user } from "@turnkeep/core";
import { tokenCounter } from "@turnkeep/tokens";
import { describe, expect, test } from "vitest";
import { billOf, useOf } from "../src/cache/bill.ts";
import { afterPause, byTarget, rehearse } from "../src/cache/candidates.ts";
import { generated, pauses } from "../src/cache/dialogue.ts";
import { windowCases } from "../src/cache/policies.ts";
import { anthropicBreakpoints, blocksOf128, type Card, implicitBreakpoint } from "../src/cache/prices.ts";
import { type Block, type Segment, Segments } from "../src/cache/prompt.ts";
import { type CacheRules, type PromptCache, promptCache } from "../src/cache/prompt-cache.ts";
import { play } from "../src/cache/trace.ts";

const segment = (
  id: number,
  tokens: number,
  role: Segment["role"] = "user",
  blocks: readonly Block[] = ["text"],
): Segment => ({ id, tokens, role, blocks });

const minutes5 = (rules: CacheRules): PromptCache => promptCache(rules, 300);
const counter = { name: "none", base: 0, count: () => 0 };

describe("a cache in blocks of 128 tokens", () => {
  const [a, b, c, x] = [segment(1, 1_000), segment(2, 200), segment(3, 300), segment(9, 1_000)];

  test("the same prompt again: its whole blocks", () => {
    const cache = minutes5(blocksOf128);
    expect(cache.request([a, b], 0)).toEqual({ cached: 0, written: 1_152 });
    expect(cache.request([a, b], 1)).toEqual({ cached: 1_152, written: 0 });
  });

  test("a longer prompt: what the earlier one had of it, in whole blocks", () => {
    const cache = minutes5(blocksOf128);
    cache.request([a, b], 0);
    // 1,200 tokens were there: nine blocks. The tenth holds the end of b, and the beginning of c.
    expect(cache.request([a, b, c], 1)).toEqual({ cached: 1_152, written: 256 });
    expect(cache.request([a, b, c], 2)).toEqual({ cached: 1_408, written: 0 });
  });

  test("another beginning: nothing; another middle: what stands before it", () => {
    const cache = minutes5(blocksOf128);
    cache.request([a, a, b], 0);
    expect(cache.request([x, a, b], 1)).toEqual({ cached: 0, written: 2_176 });
    expect(cache.request([a, x, b], 2)).toEqual({ cached: 0, written: 2_176 });
    expect(cache.request([a, a, x], 3)).toEqual({ cached: 1_920, written: 1_024 });
    // The block that holds the end of the second a held the beginning of x as well.
    expect(cache.request([a, a, x], 4).cached).toBe(2_944);
  });

  test("below 1,024 tokens nothing is cached", () => {
    const cache = minutes5(blocksOf128);
    const short = segment(4, 1_023);
    expect([cache.request([short], 0), cache.request([short], 1)]).toEqual([
      { cached: 0, written: 0 },
      { cached: 0, written: 0 },
    ]);
    const enough = segment(5, 1_024);
    expect([cache.request([enough], 0), cache.request([enough], 1)]).toEqual([
      { cached: 0, written: 1_024 },
      { cached: 1_024, written: 0 },
    ]);
    // Seven blocks are known, and too few.
    expect(cache.request([a, x], 2)).toEqual({ cached: 0, written: 1_920 });
    expect(cache.request([a, b], 3)).toEqual({ cached: 0, written: 1_152 });
  });

  test("what was not used for the lifetime is gone, and a use prolongs it", () => {
    const cache = minutes5(blocksOf128);
    cache.request([a, b, c], 0);
    expect(cache.request([a, b], 300).cached).toBe(1_152);
    // The beginning was used since; its end was not.
    expect(cache.request([a, b, c], 600).cached).toBe(1_152);
    expect(cache.request([a, b, c], 901).cached).toBe(0);
    expect(promptCache(blocksOf128, 3_600).request([a, b, c], 0).cached).toBe(0);
  });
});

describe("a cache with breakpoints", () => {
  const head = segment(0, 30, "system");
  const [question, answer, next] = [segment(1, 1_200), segment(2, 100, "assistant"), segment(3, 50)];

  test("an earlier request's whole prompt is read, what follows is written", () => {
    for (const rules of [anthropicBreakpoints, implicitBreakpoint]) {
      const cache = minutes5(rules);
      expect(cache.request([head, question], 0)).toEqual({ cached: 0, written: 1_230 });
      expect(cache.request([head, question, answer, next], 1)).toEqual({ cached: 1_230, written: 150 });
      expect(cache.request([head, question, answer, next], 2)).toEqual({ cached: 1_380, written: 0 });
    }
  });

  test("no entry, nothing read: a shorter beginning was never written", () => {
    for (const rules of [anthropicBreakpoints, implicitBreakpoint]) {
      const cache = minutes5(rules);
      cache.request([head, question, answer, next], 0);
      expect(cache.request([head, question, answer, segment(7, 50)], 1)).toEqual({
        cached: 0,
        written: 1_380,
      });
    }
  });

  test("behind a long system message there is an entry, with Anthropic's breakpoints", () => {
    const long = segment(5, 1_500, "system");
    const anthropic = minutes5(anthropicBreakpoints);
    anthropic.request([long, question], 0);
    expect(anthropic.request([long, next], 1)).toEqual({ cached: 1_500, written: 50 });
    const openai = minutes5(implicitBreakpoint);
    openai.request([long, question], 0);
    expect(openai.request([long, next], 1)).toEqual({ cached: 0, written: 1_550 });
  });

  test("below 1,024 tokens nothing is written", () => {
    const cache = minutes5(anthropicBreakpoints);
    expect(cache.request([head, next], 0)).toEqual({ cached: 0, written: 0 });
    expect(cache.request([head, next, question], 1)).toEqual({ cached: 0, written: 1_280 });
  });

  test("an entry lives as long as it is used", () => {
    const cache = minutes5(anthropicBreakpoints);
    cache.request([head, question], 0);
    expect(cache.request([head, question, answer, next], 300).cached).toBe(1_230);
    expect(cache.request([head, question], 600).cached).toBe(1_230);
    expect(cache.request([head, question, answer, next], 901).cached).toBe(0);
  });

  test("an entry is found 20 places back, runs of calls and of results being one", () => {
    const found = (between: readonly Segment[]): number => {
      const cache = minutes5(anthropicBreakpoints);
      cache.request([head, question], 0);
      return cache.request([head, question, ...between], 1).cached;
    };
    const texts = (count: number): Segment[] =>
      Array.from({ length: count }, (_, index) => segment(10 + index, 5));
    expect([found(texts(19)), found(texts(20))]).toEqual([1_230, 0]);
    const calls = segment(50, 5, "assistant", ["text", "tool-call", "tool-call", "tool-call"]);
    const results = [51, 52, 53].map((id) => segment(id, 5, "tool", ["tool-result"]));
    // Three places: the text, the calls, the results.
    expect(found([calls, ...results, ...texts(16)])).toBe(1_230);
    expect(found([calls, ...results, ...texts(17)])).toBe(0);
    // The entry ends within the run of results, which is the twentieth place.
    const cache = minutes5(anthropicBreakpoints);
    const [first, ...others] = results;
    const begun = [head, question, calls, first as Segment];
    cache.request(begun, 0);
    expect(cache.request([...begun, ...others, ...texts(19)], 1).cached).toBe(1_240);
  });
});

describe("what it costs", () => {
  const card: Card = {
    model: "m",
    lifetime: "5 min",
    rules: blocksOf128,
    prices: { input: 2, cached: 0.5, write: 3, output: 10 },
    date: "",
    source: "",
  };
  const prompt = [segment(1, 1_200)];
  const request = { at: 0, prompt, output: 100, filled: false };

  test("each token is read, written or plain input, and summaries are paid too", () => {
    const trace = { requests: [request, { ...request, at: 10 }], summaries: [{ input: 400, output: 50 }] };
    const { cached, dollars } = billOf([trace], card, counter);
    expect(cached).toBeCloseTo(1_152 / 2_400, 12);
    const first = 1_152 * 3 + 48 * 2 + 100 * 10;
    const second = 1_152 * 0.5 + 48 * 2 + 100 * 10;
    expect(dollars).toBeCloseTo(((first + second + 400 * 2 + 50 * 10) / 1e6 / 2) * 1_000, 12);
  });

  test("conversations share no cache", () => {
    const trace = { requests: [request], summaries: [] };
    expect(billOf([trace, trace], card, counter).cached).toBe(0);
  });

  test("use is counted from the first eviction on", () => {
    const full = { ...request, prompt: [segment(2, 900)], filled: true };
    expect(useOf([{ requests: [request, full], summaries: [] }], 1_000, counter)).toBe(0.9);
    expect(useOf([{ requests: [request], summaries: [] }], 1_000, counter)).toBeNull();
  });
});

test("messages are the same where their whole text is", async () => {
  const segments = new Segments(modelMessageFormat, await tokenCounter("o200k_base"));
  expect(segments.of(user("Hello"))).toBe(segments.of(user("Hello")));
  expect(segments.of(user("Hello")).id).not.toBe(segments.of(user("Hello.")).id);
  expect(segments.of(system("Hello")).id).not.toBe(segments.of(user("Hello")).id);
  expect(segments.of(toolResult("c", "t", "done")).blocks).toEqual(["tool-result"]);
});

test("pauses are as long as they are said to be, the same for the same seed", () => {
  const waits = pauses(7);
  const all = Array.from({ length: 20_000 }, () => waits.next().value);
  const share = (seconds: number): number => all.filter((wait) => wait > seconds).length / all.length;
  expect(share(300)).toBeCloseTo(0.135, 2);
  expect(share(3_600)).toBeCloseTo(0.064, 2);
  const again = pauses(7);
  expect(all.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => again.next().value));
});

describe("a conversation", async () => {
  const tokens = await tokenCounter("o200k_base");
  const [dialogue] = generated(1, 400, tokens);
  if (dialogue === undefined) throw new Error("No conversation");
  const windowOf = (name: string): (typeof windowCases)[number] => {
    const found = windowCases.find((window) => window.name === name);
    if (found === undefined) throw new Error(`No window ${name}`);
    return found;
  };

  test("each assistant message is a request of what the memory shows, within the limit", async () => {
    const { requests } = await play(dialogue, windowOf("step, target 0.7"), 4_000, tokens);
    const roles = dialogue.messages.map((message) => modelMessageFormat.role(message));
    expect(requests).toHaveLength(roles.filter((role) => role === "assistant").length);
    const sizes = requests.map(({ prompt }) => prompt.reduce((sum, { tokens }) => sum + tokens, 3));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4_000);
    expect(Math.max(...sizes)).toBeGreaterThan(3_500);
    expect(requests.every(({ prompt }) => prompt[0]?.role === "system")).toBe(true);
    expect(requests.every(({ prompt }) => ["user", "tool"].includes(prompt.at(-1)?.role ?? ""))).toBe(true);
  });

  test("a candidate shows what a memory with that window shows", async () => {
    const same = async (name: string, candidate: Parameters<typeof rehearse>[1]): Promise<void> => {
      const memory = await play(dialogue, windowOf(name), 4_000, tokens);
      expect(rehearse(dialogue, candidate, 4_000, tokens).requests).toEqual(memory.requests);
    };
    await same("step, target 0.7", byTarget(0.7));
    await same("step, target 1", byTarget(1));
    await same("step, target 0.7, cacheTtlMs 5 min", afterPause(5, 0.85, 0.7, 0.7));
  });

  test("a summary is asked for with what leaves, and shown from then on", async () => {
    const { requests, summaries } = await play(
      dialogue,
      windowOf("step, target 0.7, summaries"),
      4_000,
      tokens,
    );
    expect(summaries.length).toBeGreaterThan(3);
    expect(new Set(summaries.map(({ output }) => output)).size).toBe(1);
    expect(summaries[0]?.output).toBeGreaterThan(290);
    expect(summaries[0]?.output).toBeLessThan(330);
    expect(summaries.every(({ input }) => input > 1_000)).toBe(true);
    expect(requests.filter(({ filled }) => filled).every(({ prompt }) => prompt[1]?.role === "user")).toBe(
      true,
    );
  });
});
