import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageSizeOf } from "../src/image-size.ts";
import { imageTokens, patches, tiles } from "../src/images.ts";
import { ruleOf } from "../src/models.ts";

describe("imageTokens", () => {
  const gpt4o = tiles(85, 170);

  // OpenAI's guide "Images and vision", "Calculating costs": its worked examples.
  it.each([
    { width: 1024, height: 1024, detail: "high", tokens: 765 },
    { width: 2048, height: 4096, detail: "high", tokens: 1105 },
    { width: 4096, height: 8192, detail: "low", tokens: 85 },
  ])("of tiles: $width by $height at $detail detail cost $tokens", ({ width, height, detail, tokens }) => {
    expect(imageTokens(gpt4o, { width, height }, detail)).toBe(tokens);
  });

  // Billed by OpenAI's API for gpt-4o and gpt-4.1, as community.openai.com/t/1281361 and /t/1262691 report, less text.
  it.each([
    { width: 2049, height: 513, tokens: 1445 },
    { width: 2050, height: 513, tokens: 765 },
    { width: 128, height: 64, tokens: 255 },
  ])("of tiles: $width by $height were billed at $tokens", ({ width, height, tokens }) => {
    expect(imageTokens(gpt4o, { width, height })).toBe(tokens);
  });

  // The same report for 128 by 64 pixels, at low and at high detail.
  it.each([
    { rule: tiles(2833, 5667), low: 2845 - 12, high: 8512 - 12 },
    { rule: tiles(75, 150), low: 86 - 11, high: 236 - 11 },
  ])("of $rule.name were billed at $low and $high", ({ rule, low, high }) => {
    expect(imageTokens(rule, { width: 128, height: 64 }, "low")).toBe(low);
    expect(imageTokens(rule, { width: 128, height: 64 }, "high")).toBe(high);
  });

  // The guide's worked examples for models that count patches.
  it.each([
    { width: 1024, height: 1024, squares: 1024 },
    { width: 1800, height: 2400, squares: 1452 },
  ])("of patches: $width by $height are $squares", ({ width, height, squares }) => {
    expect(imageTokens(patches(1, 1536), { width, height })).toBe(squares);
    expect(imageTokens(patches(1.62, 1536), { width, height })).toBe(Math.ceil(squares * 1.62));
    expect(imageTokens(patches(1.62, 1536), { width, height }, "low")).toBe(Math.ceil(squares * 1.62));
  });

  // Input tokens that OpenAI billed: huggingface.co/datasets/JOHNISKING/image-token-cost.
  it.each([
    { width: 1024, height: 1024, auto: 1229, newest: 1229 },
    { width: 1920, height: 1080, auto: 2448, newest: 2448 },
    { width: 2560, height: 1440, auto: 4320, newest: 4320 },
    { width: 3840, height: 2160, auto: 9792, newest: 9792 },
    { width: 4032, height: 3024, auto: 11_868, newest: 14_364 },
  ])("of $width by $height without a detail are billed at $auto, by GPT-6 at $newest", (image) => {
    const { auto, newest, ...size } = image;
    for (const detail of [undefined, "auto", "original"]) {
      expect(imageTokens(ruleOf("gpt-5.5").images, size, detail)).toBe(auto);
      expect(imageTokens(ruleOf("gpt-6-astra").images, size, detail)).toBe(newest);
    }
    for (const rule of ["gpt-5.5", "gpt-6-astra"])
      expect(imageTokens(ruleOf(rule).images, size, "high")).toBeLessThanOrEqual(3000);
  });

  it("of unknown size are the most that any size costs", () => {
    expect(imageTokens(gpt4o, undefined)).toBe(1445);
    expect(imageTokens(gpt4o, undefined, "low")).toBe(85);
    expect(imageTokens(patches(1.2, 2500, 10_000), undefined)).toBe(3000);
    expect(imageTokens(patches(1.2, 2500, 10_000), undefined, "original")).toBe(12_000);
    const side = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 64 }));
    const rule = fc.constantFrom(gpt4o, tiles(2833, 5667), patches(1.62, 1536), ruleOf("gpt-5.5").images);
    fc.assert(
      fc.property(rule, side, side, (any, width, height) => {
        const tokens = imageTokens(any, { width, height });
        expect(tokens).toBeGreaterThan(0);
        expect(tokens).toBeLessThanOrEqual(imageTokens(any, undefined));
        expect(tokens).toBe(imageTokens(any, { width: height, height: width }));
      }),
    );
  });
});

/** Headers as the formats define them. */
const headers: Record<string, (width: number, height: number) => Uint8Array> = {
  png: (width, height) => {
    const bytes = Buffer.from("89504e470d0a1a0a0000000d49484452000000000000000008060000", "hex");
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  },
  gif: (width, height) => {
    const bytes = Buffer.from("4749463839610000000080000000", "hex");
    bytes.writeUInt16LE(width, 6);
    bytes.writeUInt16LE(height, 8);
    return bytes;
  },
  "webp, lossy": (width, height) => {
    const bytes = Buffer.concat([riff("VP8 "), Buffer.alloc(10)]);
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
    return bytes;
  },
  "webp, lossless": (width, height) => {
    const bytes = Buffer.concat([riff("VP8L"), Buffer.alloc(5)]);
    bytes.writeUInt8(0x2f, 20);
    bytes.writeUInt32LE((width - 1 + (height - 1) * 16_384 + 2 ** 28) >>> 0, 21);
    return bytes;
  },
  "webp, extended": (width, height) => {
    const bytes = Buffer.concat([riff("VP8X"), Buffer.alloc(10)]);
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
    return bytes;
  },
  "jpeg, with much before its frame": (width, height) => {
    const segment = (marker: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length + 2, 0xc0);
      bytes.writeUInt8(0xff, 0);
      bytes.writeUInt8(marker, 1);
      bytes.writeUInt16BE(length, 2);
      return bytes;
    };
    const frame = Buffer.from("ffc2001108000000000301220002110103", "hex");
    frame.writeUInt16BE(height, 5);
    frame.writeUInt16BE(width, 7);
    return Buffer.concat([
      Buffer.from("ffd8", "hex"),
      segment(0xe1, 60_000),
      segment(0xc4, 30),
      Buffer.from("ffff", "hex").subarray(0, 1),
      frame,
    ]);
  },
};

function riff(chunk: string): Buffer {
  return Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBP"), Buffer.from(chunk), Buffer.alloc(4)]);
}

describe("imageSizeOf", () => {
  it.each(Object.keys(headers))("reads %s, as bytes, base64 or base64url", (kind) => {
    const side = fc.integer({ min: 1, max: 16_383 });
    fc.assert(
      fc.property(side, side, (width, height) => {
        const bytes = (headers[kind] as (width: number, height: number) => Uint8Array)(width, height);
        const text = Buffer.from(bytes);
        for (const data of [
          bytes,
          new Uint8Array(bytes).buffer,
          text.toString("base64"),
          text.toString("base64url"),
        ]) {
          expect(imageSizeOf(data)).toEqual({ width, height });
        }
      }),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 25) },
    );
  });

  it.each(Object.keys(headers))("finds no size where the header is cut off: %s", (kind) => {
    const bytes = (headers[kind] as (width: number, height: number) => Uint8Array)(300, 200);
    const read = kind === "gif" ? 9 : kind.startsWith("jpeg") ? bytes.length - 10 : 22;
    for (let end = 0; end <= read; end += Math.ceil(read / 50)) {
      expect(imageSizeOf(bytes.slice(0, end))).toBeUndefined();
      expect(imageSizeOf(Buffer.from(bytes.slice(0, end)).toString("base64"))).toBeUndefined();
    }
  });

  it.each([
    ["a PNG without its header", "89504e470d0a1a0a0000000d4441544100000001000000010806"],
    ["no PNG", "88504e470d0a1a0a0000000d494844520000000100000001"],
    ["another file of chunks", Buffer.from("RIFF\0\0\0\0WAVEVP8X").toString("hex") + "00".repeat(14)],
    ["no file of chunks", Buffer.from("RIFX\0\0\0\0WEBPVP8X").toString("hex") + "00".repeat(14)],
    ["a GIF without width", "47494638396100000100"],
    ["a GIF without height", "47494638396101000000"],
    ["no JPEG", "ffd9ffc0001108000100010301220002110103"],
    ["a JPEG whose picture begins before its frame", "ffd8ffda0002ffc0001108000100010301220002110103"],
    ["a JPEG with a segment shorter than its length", "ffd8ffe00001ffc0001108000100010301220002110103"],
    [
      "a JPEG with more before its frame than any has",
      `ffd8${"ff".repeat(20_000)}c0001108000100010301220002110103`,
    ],
  ])("finds no size in %s", (_, hex) => {
    expect(imageSizeOf(Buffer.from(hex, "hex"))).toBeUndefined();
  });

  it.each(["c0", "c3", "c5", "cf"])(
    "takes a JPEG's marker %s for a frame, behind one that is none",
    (marker) => {
      const frame = `ff${marker}001108000200030301220002110103`;
      for (const before of ["", "ff900002", "ffc4000400c0", "ffc8000400c0", "ffcc000400c0", "ffff"])
        expect(imageSizeOf(Buffer.from(`ffd8${before}${frame}`, "hex"))).toEqual({ width: 3, height: 2 });
    },
  );

  it("ends and answers a size or none, whatever it is given", () => {
    const start = fc.constantFrom("", "ffd8ffff", "ffd8ffe00000", "ffd8ffe00001", "89504e47", "52494646");
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), fc.string(), (begin, rest, text) => {
        for (const data of [Buffer.concat([Buffer.from(begin, "hex"), rest]), text]) {
          const size = imageSizeOf(data);
          if (size !== undefined) expect(size.width > 0 && size.height > 0).toBe(true);
        }
      }),
    );
  });
});
