import { fromBase64 } from "@turnkeep/core/format-kit";
import type { ImageSize } from "./images.ts";

/** A medium as a message carries it: base64 text or bytes. */
export type MediumData = string | Uint8Array | ArrayBuffer;

/**
 * Reads width and height from the header of a PNG, GIF, WebP or JPEG, decoding no more than it needs. `undefined` for
 * anything else.
 */
export function imageSizeOf(data: MediumData): ImageSize | undefined {
  const at = reader(data);
  const text = (start: number, length: number): string =>
    String.fromCharCode(...Array.from({ length }, (_, index) => at(start + index)));
  const size = sizeOf(at, text);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

/** The byte at a position; NaN if there is none. */
type ByteAt = (place: number) => number;

function sizeOf(at: ByteAt, text: (start: number, length: number) => string): ImageSize | undefined {
  const big = (place: number, bytes: number): number => {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) value = value * 256 + at(place + index);
    return value;
  };
  const little = (place: number, bytes: number): number => {
    let value = 0;
    for (let index = bytes - 1; index >= 0; index -= 1) value = value * 256 + at(place + index);
    return value;
  };
  if (text(0, 4) === "\u0089PNG" && text(12, 4) === "IHDR") return { width: big(16, 4), height: big(20, 4) };
  if (text(0, 4) === "GIF8") return { width: little(6, 2), height: little(8, 2) };
  if (text(0, 4) === "RIFF" && text(8, 4) === "WEBP") {
    switch (text(12, 4)) {
      case "VP8 ":
        return { width: little(26, 2) % 16_384, height: little(28, 2) % 16_384 };
      case "VP8L": {
        const bits = little(21, 4);
        return { width: (bits % 16_384) + 1, height: (Math.floor(bits / 16_384) % 16_384) + 1 };
      }
      case "VP8X":
        return { width: little(24, 3) + 1, height: little(27, 3) + 1 };
    }
  }
  if (big(0, 2) === 0xffd8) return jpegSize(at, big);
  return undefined;
}

/** Goes from segment to segment until the frame's header. */
function jpegSize(at: ByteAt, big: (place: number, bytes: number) => number): ImageSize | undefined {
  let place = 2;
  while (at(place) === 0xff) {
    const marker = at(place + 1);
    if (marker === 0xff) {
      place += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: big(place + 7, 2), height: big(place + 5, 2) };
    const length = big(place + 2, 2);
    // The image data, or a segment too short for its own length.
    if (marker === 0xda || !(length >= 2)) return undefined;
    place += 2 + length;
  }
  return undefined;
}

/** All of a medium; `undefined` for a text that is no base64. */
export function bytesOf(data: MediumData): Uint8Array | undefined {
  if (typeof data !== "string") return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
  try {
    return fromBase64(data.replace(/[-_]/g, (character) => (character === "-" ? "+" : "/")));
  } catch {
    return undefined;
  }
}

function reader(data: MediumData): ByteAt {
  if (typeof data !== "string") {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
    return (place) => bytes[place] ?? Number.NaN;
  }
  const sextet = (place: number): number => {
    const value = alphabet.indexOf(data[place] ?? "=");
    return value < 0 ? Number.NaN : value < 64 ? value : value - 2;
  };
  return (place) => {
    const first = Math.floor(place / 3) * 4 + (place % 3);
    // A byte is the low bits of one character and the high bits of the next: 6 and 2, 4 and 4, 2 and 6.
    const high = sextet(first);
    const low = sextet(first + 1);
    const taken = 4 ** (place % 3);
    return (high % (64 / taken)) * 4 * taken + Math.floor(low / (16 / taken));
  };
}

/** Base64's alphabet, then the two characters that base64url has in place of its last two. */
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
