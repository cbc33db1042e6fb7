/** What a message tells of a medium. */
export interface MediaFacts {
  readonly mediaType: string | undefined;
  /** Size of the decoded medium. */
  readonly bytes: number | undefined;
  /** Base64 text or bytes, where the message carries the medium: a counter may want to measure it. */
  readonly data?: string | Uint8Array;
}

export interface ImageFacts extends MediaFacts {
  readonly detail?: string;
}

/** Of an image at a URL, of any kind. `detail`: how closely a model is to look, where the message says so. */
export function imageFacts(url: string, detail?: unknown): ImageFacts {
  const facts = dataUrlFacts(url) ?? { mediaType: undefined, bytes: undefined };
  return {
    ...facts,
    mediaType: facts.mediaType ?? "image/*",
    ...(typeof detail === "string" ? { detail } : {}),
  };
}

/** What a base64 text holds, of a type that it does not say. */
export function base64Facts(data: string): MediaFacts {
  return { mediaType: undefined, bytes: base64Bytes(data), data };
}

/** What a message carries as base64 text or bytes, of a type that they do not say. */
export function carriedFacts(data: unknown): MediaFacts {
  if (typeof data === "string") return base64Facts(data);
  return data instanceof Uint8Array
    ? { mediaType: undefined, bytes: data.byteLength, data }
    : { mediaType: undefined, bytes: undefined };
}

/** What a `data:` URL holds; `undefined` for any other URL. */
export function dataUrlFacts(url: string): MediaFacts | undefined {
  const comma = url.indexOf(",");
  if (comma < 0 || !/^data:/i.test(url)) return undefined;
  const parameters = url.slice("data:".length, comma).split(";");
  const mediaType = parameters[0]?.trim().toLowerCase() || "text/plain";
  const encoded = url.slice(comma + 1);
  const base64 = parameters.at(-1)?.trim().toLowerCase() === "base64";
  return base64
    ? { mediaType, bytes: base64Bytes(encoded), data: encoded }
    : { mediaType, bytes: percentBytes(encoded) };
}

/** How many bytes a base64 text stands for. */
export function base64Bytes(text: string): number {
  let characters = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const blank = code === 0x20 || (code >= 0x09 && code <= 0x0d);
    if (!blank && code !== 0x3d) characters += 1;
  }
  return Math.floor((characters * 3) / 4);
}

function percentBytes(text: string): number {
  const escapes = text.match(/%[0-9a-f]{2}/gi)?.length ?? 0;
  return new TextEncoder().encode(text).length - 2 * escapes;
}
