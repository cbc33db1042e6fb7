import { deflateSync } from "node:zlib";
import { createChatMemory, modelMessageFormat, user } from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundCounter, estimateMedia, type MediaPiece } from "../src/index.ts";
import { pdfPages } from "../src/pdf-pages.ts";

const page = (id: number): string => `${id} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj\n`;
const catalog =
  "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type /Pages/Count 3/Kids[3 0 R]>>endobj\n";
const pdf = (...parts: (string | Uint8Array)[]): Buffer =>
  Buffer.concat(["%PDF-1.7\n", ...parts, "%%EOF"].map((part) => Buffer.from(part)));
const stream = (dictionary: string, content: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from(`9 0 obj<<${dictionary}/Length ${content.length}>>stream\r\n`),
    content,
    Buffer.from("\nendstream endobj\n"),
  ]);
const packed = (text: string): Buffer =>
  stream("/Type /ObjStm/N 3/First 20/Filter/FlateDecode", deflateSync(text));
const plain = pdf(catalog, page(3), page(4), page(5), stream("/Type/XObject", Buffer.alloc(1_000_000, 7)));

describe("pdfPages", () => {
  it("counts pages, and no node above them", () => {
    expect(pdfPages(plain)).toBe(3);
    expect(pdfPages(plain.toString("base64"))).toBe(3);
    expect(pdfPages(plain.toString("base64url"))).toBe(3);
    expect(pdfPages(new Uint8Array(plain).buffer)).toBe(3);
  });

  it("counts those that are packed into deflated streams, beside others", () => {
    expect(pdfPages(pdf(catalog, packed(page(3) + page(4)), packed(page(5)), page(6)))).toBe(4);
  });

  it.each<[string, Uint8Array | string]>([
    ["no PDF", Buffer.from("/Type /Page")],
    ["no base64", "JVBERi, and then words"],
    ["a PDF without pages", pdf(catalog)],
    ["a stream that is not deflated", pdf(page(3), stream("/Type/ObjStm", Buffer.from(page(4))))],
    ["a stream that fills the memory", pdf(page(3), packed("\0".repeat(65 * 1024 * 1024)))],
  ])("tells nothing of %s", (_, data) => {
    expect(pdfPages(data)).toBeUndefined();
  });

  it("is not upset by anything", () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const pages = pdfPages(pdf(a, page(3), b)) ?? 0;
        expect(pages).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("a PDF costs by its pages", () => {
  const piece = (data: MediaPiece["data"], bytes: number): MediaPiece => {
    return { type: "media", mediaType: "application/pdf", bytes, data, of: "content" };
  };

  it("and not by its bytes, unless it does not tell them", () => {
    // Text, and what GPT-4o's image of a sheet costs.
    expect(estimateMedia(piece(plain, plain.length))).toBe(3 * (800 + 765));
    expect(estimateMedia(piece(undefined, 1_000_000))).toBe(250_000);
    expect(estimateMedia(piece(pdf(catalog), 4_000))).toBe(1_000);
  });

  it("so that a scan of a few pages fits", async () => {
    const counter = await boundCounter("anthropic");
    const memory = createChatMemory({ window: { maxTokens: 180_000, counter } });
    const asked = user([{ type: "file", mediaType: "application/pdf", data: plain.toString("base64") }]);
    await memory.add(asked);
    expect(await memory.messages()).toEqual([asked]);
    expect(counter.count(asked, modelMessageFormat)).toBeGreaterThan(3 * 3000);
  });
});
