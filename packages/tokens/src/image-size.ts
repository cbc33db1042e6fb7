import { fromBase64 } from "@turnkeep/core/format-kit";
import { type Header, headerOf, type MediumData } from "./header.ts";
import type { ImageSize } from "./images.ts";

/**
 * Reads width and height from the header of a PNG, GIF, WebP or JPEG, decoding no more than it needs. `undefined` for
 * anything else.
 */
export function imageSizeOf(data: MediumData): ImageSize | undefined {
  const size = sizeOf(headerOf(data));
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function sizeOf({ text, big, little }: Header): ImageSize | undefined {
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
  if (big(0, 2) === 0xffd8) return jpegSize(big);
  return undefined;
}

/** More than any file has segments before its frame, and fill bytes between them. */
const mostTurns = 10_000;

/** Goes from segment to segment until the frame's header. */
function jpegSize(big: Header["big"]): ImageSize | undefined {
  let place = 2;
  for (let turn = 0; turn < mostTurns && big(place, 1) === 0xff; turn++) {
    const marker = big(place + 1, 1);
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
