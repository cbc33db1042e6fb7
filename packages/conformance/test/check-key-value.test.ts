import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ConformanceError, checkKeyValue } from "../src/index.ts";
import { hookCases } from "../src/key-value/cases.ts";
import { hookSentences } from "../src/key-value/sentences.ts";
import { brokenHooks, type Hooks, hooksOf, newValues } from "./broken-hooks.ts";
import { onOneLine } from "./contract-text.ts";

describe("hooks of a key-value database", () => {
  test("that keep every promise pass, with one client and with two", async () => {
    const values = newValues();
    await checkKeyValue(hooksOf(values));
    await checkKeyValue(hooksOf(values), hooksOf(values));
    const { list: _, ...without } = hooksOf(values);
    await checkKeyValue(without);
    expect(values.entries.size).toBe(0);
  });

  test("of a database that takes short values, or digits alone as keys, pass where they say so", async () => {
    const hooks = hooksOf(newValues());
    const narrow: Hooks = {
      ...hooks,
      keys: "hex",
      maxMemoryBytes: 1_500_000,
      async compareAndSet(key, value, ...given) {
        if (!/^[0-9a-f]{2,1024}$/.test(key)) throw new Error("no such key");
        if (Buffer.byteLength(value) > 1_500_000) throw new Error("the value is too large");
        return hooks.compareAndSet(key, value, ...given);
      },
    };
    await checkKeyValue(narrow);
    await expect(checkKeyValue({ ...narrow, maxMemoryBytes: undefined })).rejects.toThrow(
      "- a value comes back character for character: compareAndSet of a text of 2097152 bytes: expected an answer",
    );
    await expect(checkKeyValue({ ...narrow, keys: undefined })).rejects.toThrow("no such key");
  });

  test.each(brokenHooks)("that %s are caught by the case of that name", async (_, change, name) => {
    const values = newValues();
    const broken = (): Hooks => {
      const hooks = hooksOf(values);
      return { ...hooks, ...change(hooks, values) };
    };
    const error = await checkKeyValue(broken(), broken()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConformanceError);
    expect((error as Error).message).toContain(`- ${name}: `);
  });

  test("each case is failed by some of them", () => {
    const named = new Set(brokenHooks.map(([, , name]) => name));
    expect(hookCases.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  });

  test("that are none are refused", async () => {
    await expect(checkKeyValue({ get: () => undefined } as never)).rejects.toThrow("compareAndSet()");
  });
});

const options = onOneLine(
  readFileSync(new URL("../../core/src/stores/key-value-options.ts", import.meta.url), "utf8"),
);

test.each(Object.values(hookSentences))("the options of keyValueStore say: %s", (sentence) => {
  expect(options).toContain(sentence);
  expect(hookCases.some((member) => member.sentence === sentence)).toBe(true);
});
