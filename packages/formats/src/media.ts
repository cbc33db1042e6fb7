import { base64Bytes, dataUrlFacts } from "@turnkeep/core/format-kit";

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
