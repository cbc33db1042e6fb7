import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { MessageFormat, Piece, Role } from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BoundName, boundCounter, type MediaPiece, tokenCounter } from "../src/index.ts";

interface Case {
  readonly kind: string;
  readonly text: string;
  readonly gemma: number;
}
const { cases } = JSON.parse(readFileSync(new URL("./vectors/bounds.json", import.meta.url), "utf8")) as {
  readonly cases: readonly Case[];
};

/** What `ctok` counts: see the file's note. */
interface Measured {
  readonly kind: string;
  readonly claude3: number;
  readonly claude4: number;
}
const claude = JSON.parse(readFileSync(new URL("./vectors/claude.json", import.meta.url), "utf8")) as {
  readonly bounds: readonly Measured[];
  readonly cases: readonly (Measured & { readonly text: string })[];
  readonly repeats: readonly (Omit<Measured, "kind"> & { readonly unit: string })[];
};
const textOf = (kind: string): string => cases.find((one) => one.kind === kind)?.text ?? "";
const measured = [...claude.bounds.map((one) => ({ ...one, text: textOf(one.kind) })), ...claude.cases];

const format = {
  role: (): Role => "user",
  pieces: (message: string | MediaPiece): Piece[] =>
    typeof message === "string" ? [{ type: "text", text: message, of: "content" }] : [message],
} as unknown as MessageFormat<string | MediaPiece>;

/** What the bound says of the message without its frame. */
async function bound(provider: BoundName, message: string | MediaPiece): Promise<number> {
  const counter = await boundCounter(provider);
  return counter.count(message, format) - counter.count("", format);
}

describe("boundCounter", () => {
  it.each(cases)("is above Gemma for $kind, and not far", async ({ text, gemma }) => {
    expect(await bound("gemini", text)).toBeGreaterThanOrEqual(gemma);
    expect(await bound("gemini", text)).toBeLessThanOrEqual(10 + 3 * gemma);
  });

  it.each(measured)("is above Claude's tokenizers, the older and the newer, for $kind", async (one) => {
    expect(await bound("anthropic", one.text)).toBeGreaterThanOrEqual(Math.max(one.claude3, one.claude4));
  });

  it.each(claude.repeats)("is above them for $unit forty times", async ({ unit, claude3, claude4 }) => {
    expect(await bound("anthropic", unit.repeat(40))).toBeGreaterThanOrEqual(Math.max(claude3, claude4));
  });

  it.each([
    "english",
    "prose",
    "letter",
    "c",
    "python",
    "go",
    "html",
    "camel code",
    "tool result",
    "typescript",
    "json",
    "lockfile",
    "german",
    "log",
    "url",
    "css",
    "latex",
    "xml",
    "rulers",
    "numbers",
  ])("is at most 1.6 times what Claude counts of %s", async (kind) => {
    const { text, claude3, claude4 } = measured.find((one) => one.kind === kind) as (typeof measured)[0];
    expect(await bound("anthropic", text)).toBeLessThanOrEqual(1.6 * Math.max(claude3, claude4));
  });

  it("is at most 2.7 times what Claude counts of any language", async () => {
    for (const { kind, claude3, claude4 } of claude.bounds)
      expect(await bound("anthropic", textOf(kind))).toBeLessThanOrEqual(2.7 * Math.max(claude3, claude4));
  });

  it.each(["\r", "\v", "\f", "\r\r\n", "\n\f\n", "\n", "\t", " \n"])(
    "counts each %j of many",
    async (blank) => {
      expect(await bound("anthropic", `${blank}a`.repeat(20))).toBeGreaterThanOrEqual(40);
    },
  );

  it("is a whole number, more than nothing for any text, and no less for the same text many times", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("anthropic" as const, "gemini" as const),
        fc.string({ unit: "binary", maxLength: 40 }),
        async (provider, text) => {
          const tokens = await bound(provider, text);
          expect(Number.isSafeInteger(tokens)).toBe(true);
          expect(tokens).toBeGreaterThanOrEqual(text === "" ? 0 : 1);
          expect(await bound(provider, text.repeat(20))).toBeGreaterThanOrEqual(tokens);
        },
      ),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 60) },
    );
  });

  it.each([
    ["anthropic", undefined, 4784],
    ["anthropic", { width: 1000, height: 750 }, 1000],
    ["anthropic", { width: 8000, height: 8000 }, 4784],
    ["gemini", undefined, 4128],
    ["gemini", { width: 300, height: 300 }, 1120],
    ["gemini", { width: 3072, height: 1536 }, 8 * 258],
    ["gemini", { width: 30_720, height: 15_360 }, 8 * 258],
  ] as const)("takes an image for %s of %j at %d", async (provider, size, tokens) => {
    const gif = Buffer.from("4749463839610000000080000000", "hex");
    gif.writeUInt16LE(size?.width ?? 0, 6);
    gif.writeUInt16LE(size?.height ?? 0, 8);
    const image: MediaPiece = {
      type: "media",
      mediaType: "image/gif",
      bytes: 14,
      data: gif,
      of: "content",
    };
    expect(await bound(provider, image)).toBe(tokens);
  });

  it("keeps no text that it has counted", async () => {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as () => void;
    const heap = (): number => {
      gc();
      return process.memoryUsage().heapUsed;
    };
    const counter = await boundCounter("anthropic");
    const letters = (n: number): string =>
      n.toString(26).replace(/./g, (digit) => "abcdefghijklmnopqrstuvwxyz"[parseInt(digit, 26)] as string);
    const before = heap();
    for (let n = 0; n < 60; n++)
      counter.count(`${"so it is. ".repeat(6_000)}${"newword".repeat(2)}${letters(26 ** 4 + n)}`, format);
    expect(heap() - before).toBeLessThan(1_500_000);
  });

  it("says by its name that it is a bound, and by which rule", async () => {
    expect((await boundCounter("anthropic")).name).toBe("anthropic-bound-1");
    const own = await boundCounter("gemini", { media: { name: "free", count: () => 0 } });
    expect(own.name).toBe("gemini-bound-1+free");
    expect(own.count({ type: "media", mediaType: "image/png", bytes: 9, of: "content" }, format)).toBe(
      own.count("", format),
    );
  });

  it("refuses a provider that it does not know, and a counter of OpenAI's names it for the others", async () => {
    await expect(boundCounter("toString" as BoundName)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(tokenCounter("claude-opus-4-7")).rejects.toThrow("boundCounter");
    for (const name of [undefined, null, 10n, Object.create(null)] as never[]) {
      await expect(boundCounter(name)).rejects.toMatchObject({ code: "INVALID_OPTION" });
      await expect(tokenCounter(name)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    }
  });
});
