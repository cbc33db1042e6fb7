import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelMessageFormat as format, type Piece } from "../src/index.ts";
import {
  assistant,
  blank,
  call,
  file,
  request,
  response,
  result,
  text,
  thought,
  thoughtFile,
  tool,
  userParts,
} from "./format-parts.ts";

describe("pieces", () => {
  const piece = (of: string, value: string): Piece => ({ type: "text", text: value, of }) as Piece;
  const medium = (bytes: number | undefined, mediaType?: string, of = "content"): Piece =>
    ({ type: "media", mediaType, bytes, of }) as Piece;

  /** The pieces without the media themselves, which are looked at further below. */
  const sized = (message: Parameters<typeof format.pieces>[0]): Piece[] =>
    format.pieces(message).map((found) => {
      if (found.type !== "media") return found;
      const { data: _, ...rest } = found;
      return rest;
    });

  test("of text", () => {
    expect(sized({ role: "system", content: "Be brief." })).toEqual([piece("content", "Be brief.")]);
    expect(sized(userParts(text, blank))).toEqual([piece("content", "secret"), piece("content", blank.text)]);
  });

  test.each<[string, object, Piece[]]>([
    ["reasoning", thought, [piece("reasoning", "hm")]],
    ["a reasoning file", thoughtFile, [medium(3, "image/png", "reasoning")]],
    ["a call", call("1"), [piece("name", "t-1"), piece("tool-call", '{"a":1}')]],
    ["a call of text", { ...call("1"), input: "Oslo" }, [piece("name", "t-1"), piece("tool-call", "Oslo")]],
    ["a call of nothing", { ...call("1"), input: undefined }, [piece("name", "t-1"), piece("tool-call", "")]],
    [
      "a call of a bigint",
      { ...call("1"), input: { a: 5n } },
      [piece("name", "t-1"), piece("tool-call", '{"a":"5"}')],
    ],
    [
      "a call of bytes",
      { ...call("1"), input: [Uint8Array.of(1), new ArrayBuffer(1)] },
      [piece("name", "t-1"), piece("tool-call", '["AQ==","AA=="]')],
    ],
    ["a request", request("1"), []],
    ["a response", response("1"), []],
    ["an unknown part", { type: "hologram", depth: 3 }, [piece("content", '{"type":"hologram","depth":3}')]],
  ])("of %s", (_name, part, expected) => {
    expect(sized(assistant(part))).toEqual(expected);
  });

  test.each<[string, object, Piece[]]>([
    ["text", { type: "text", value: "4 °C" }, [piece("tool-result", "4 °C")]],
    ["json", { type: "json", value: { c: 4 } }, [piece("tool-result", '{"c":4}')]],
    ["json text", { type: "json", value: "four" }, [piece("tool-result", "four")]],
    ["error-text", { type: "error-text", value: "no" }, [piece("tool-result", "no")]],
    ["error-json", { type: "error-json", value: [1] }, [piece("tool-result", "[1]")]],
    ["execution-denied", { type: "execution-denied", reason: "no" }, [piece("tool-result", "no")]],
    ["execution-denied without a reason", { type: "execution-denied" }, [piece("tool-result", "")]],
    ["an unknown type", { type: "hologram", value: { z: 1 } }, [piece("tool-result", '{"z":1}')]],
    [
      "content",
      {
        type: "content",
        value: [
          { type: "text", text: "see" },
          { type: "file", data: { type: "data", data: new Uint8Array(9) }, mediaType: "a/b" },
          { type: "file", data: { type: "text", text: "ü" }, mediaType: "text/plain" },
          { type: "file-data", data: "QUI=", mediaType: "a/b" },
          { type: "file-url", url: "https://example.com/a.pdf" },
          { type: "file-id", fileId: "1" },
          { type: "file-reference", providerReference: { openai: "1" } },
          { type: "image-data", data: "QQ==", mediaType: "image/png" },
          { type: "image-url", url: "https://example.com/a.png" },
          { type: "image-url", url: "data:image/png;base64,QUJD" },
          { type: "image-file-id", fileId: "1" },
          { type: "image-file-reference", providerReference: { openai: "1" } },
          { type: "media", data: "QUJD", mediaType: "audio/wav" },
          { type: "custom" },
        ],
      },
      [
        piece("tool-result", "see"),
        medium(9, "a/b", "tool-result"),
        medium(2, "text/plain", "tool-result"),
        medium(2, "a/b", "tool-result"),
        medium(undefined, undefined, "tool-result"),
        medium(undefined, undefined, "tool-result"),
        medium(undefined, undefined, "tool-result"),
        medium(1, "image/png", "tool-result"),
        medium(undefined, "image/*", "tool-result"),
        medium(3, "image/*", "tool-result"),
        medium(undefined, "image/*", "tool-result"),
        medium(undefined, "image/*", "tool-result"),
        medium(3, "audio/wav", "tool-result"),
        piece("tool-result", '{"type":"custom"}'),
      ],
    ],
  ])("of an output: %s", (_name, output, expected) => {
    expect(sized(tool(result("1", output)))).toEqual([piece("name", "t-1"), ...expected]);
  });

  test.each<[string, unknown, number | undefined]>([
    ["bytes", new Uint8Array(7), 7],
    ["a part of a buffer", new Uint8Array(7).subarray(2), 5],
    ["an ArrayBuffer", new ArrayBuffer(8), 8],
    ["base64", "QUJD", 3],
    ["base64 with padding", "QQ==", 1],
    ["base64 without padding", "QQ", 1],
    ["base64 in lines", "QUJD\r\nQQ==\n", 4],
    ["no base64", "", 0],
    ["a web address", "HTTPS://example.com/a.png", undefined],
    ["another address", "gs://bucket/a.png", undefined],
    ["a URL", new URL("https://example.com/a.png"), undefined],
    ["a data URL", new URL("data:image/png;base64,QUI="), 2],
    ["a data URL as text", "data:image/png;base64,QUI=", 2],
    ["a data URL in lines", "data:image/png; base64 ,QUJD\nQQ==", 4],
    ["a data URL of text", "data:,a%20ü", 4],
    ["a data URL of text of type base64", "data:base64,QUJD", 4],
    ["half a data URL", "data:image/png;base64", undefined],
    ["tagged bytes", { type: "data", data: new Uint8Array(4) }, 4],
    ["tagged base64", { type: "data", data: "QUJD" }, 3],
    ["a tagged URL", { type: "url", url: new URL("https://example.com/") }, undefined],
    ["a tagged data URL", { type: "url", url: new URL("data:;base64,QUJD") }, 3],
    ["tagged text", { type: "text", text: "ü" }, 2],
    ["a tagged reference", { type: "reference", reference: { openai: "1" } }, undefined],
    ["a reference", { openai: "1" }, undefined],
  ])("size of %s", (_name, data, bytes) => {
    expect(sized(userParts({ type: "image", image: data, mediaType: "image/png" }))).toEqual([
      medium(bytes, "image/png"),
    ]);
    expect(sized(userParts({ type: "file", data, mediaType: "image/png" }))).toEqual([
      medium(bytes, "image/png"),
    ]);
  });

  test("sizes of base64 are those of its bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const data = Buffer.from(bytes).toString("base64");
        expect(sized(userParts({ ...file, data }))).toEqual([medium(bytes.length, "application/pdf")]);
      }),
    );
  });

  test.each<[string, unknown, unknown]>([
    ["bytes", new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    ["base64", "QUJD", "QUJD"],
    ["a data URL", "data:image/png;base64,QUI=", "QUI="],
    ["tagged base64", { type: "data", data: "QUJD" }, "QUJD"],
    ["a tagged data URL", { type: "url", url: new URL("data:;base64,QUJD") }, "QUJD"],
    ["a data URL of text", "data:,a", undefined],
    ["a web address", "https://example.com/a.png", undefined],
    ["a reference", { openai: "1" }, undefined],
  ])("carry the medium itself: %s", (_name, data, carried) => {
    const [found] = format.pieces(userParts({ type: "file", data, mediaType: "image/png" }));
    expect(found).toMatchObject({ type: "media" });
    expect(found !== undefined && "data" in found ? found.data : undefined).toEqual(carried);
  });

  test("an image that does not say of which type it is, is one all the same", () => {
    expect(sized(userParts({ type: "image", image: "QUJD" }))).toEqual([medium(3, "image/*")]);
    expect(sized(userParts({ type: "image", image: new Uint8Array(4) }))).toEqual([medium(4, "image/*")]);
  });

  test("tell the detail that a message asks of OpenAI's models", () => {
    const image = { type: "image", image: "QUJD" } as const;
    const detail = (providerOptions: object): unknown => {
      const [found] = format.pieces(userParts({ ...image, providerOptions } as never));
      return found?.type === "media" ? found.detail : "no medium";
    };
    expect(detail({ openai: { imageDetail: "low" } })).toBe("low");
    expect(detail({ openai: { imageDetail: 7 } })).toBeUndefined();
    expect(detail({ anthropic: {} })).toBeUndefined();
  });
});
