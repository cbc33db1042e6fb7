import type { MediumData } from "./header.ts";
import { bytesOf } from "./image-size.ts";

/** What a page's object says of itself; `/Pages` is a node above it. */
const pageObject = /\/Type\s*\/Page(?![a-zA-Z])/g;

/** An object stream: newer PDFs pack their objects into such, deflated. */
const objectStream = /\/Type\s*\/ObjStm(?![a-zA-Z])[\s\S]{0,1000}?\bstream\r?\n/g;

/** `%PDF-` in base64, but for the last character. */
const encodedHeader = "JVBERi";

/** What all object streams of a PDF may unpack to: a hostile one would fill the memory. */
const mostUnpacked = 64 * 1024 * 1024;

/**
 * How many pages a PDF has, by its page objects; `undefined` if it tells of none: if it is no PDF, is encrypted, or keeps its
 * objects deflated and this runtime cannot inflate at once (Node, Deno and Bun can).
 */
export function pdfPages(data: MediumData): number | undefined {
  // The first characters tell, so that nothing else is decoded whole.
  if (typeof data === "string" && !data.startsWith(encodedHeader)) return undefined;
  const bytes = bytesOf(data);
  if (bytes === undefined || latin1(bytes.subarray(0, 5)) !== "%PDF-") return undefined;
  const text = latin1(bytes);
  let pages = countIn(text);
  let left = mostUnpacked;
  for (const { index, 0: head } of text.matchAll(objectStream)) {
    const unpacked = left > 0 ? inflated(bytes.subarray(index + head.length), left) : undefined;
    if (unpacked === undefined) return undefined;
    left -= unpacked.length;
    pages += countIn(latin1(unpacked));
  }
  return pages > 0 ? pages : undefined;
}

function countIn(text: string): number {
  return text.match(pageObject)?.length ?? 0;
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

interface Zlib {
  inflateSync(bytes: Uint8Array, options: { maxOutputLength: number; finishFlush: number }): Uint8Array;
  readonly constants: { readonly Z_SYNC_FLUSH: number };
}

/** What follows the stream is left alone. `undefined` if it is not deflated, or longer than `most`. */
function inflated(bytes: Uint8Array, most: number): Uint8Array | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(name: string): unknown };
  };
  const zlib = process?.getBuiltinModule?.("node:zlib") as Zlib | undefined;
  try {
    return zlib?.inflateSync(bytes, { maxOutputLength: most, finishFlush: zlib.constants.Z_SYNC_FLUSH });
  } catch {
    return undefined;
  }
}
