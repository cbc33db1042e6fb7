/**
 * The address of a medium of the default format: as it is, or as a `data:` address. `undefined` for what is neither here
 * nor behind an address.
 */
export function dataUrl(data: unknown, mediaType: string): string | undefined {
  if (data instanceof URL) return data.href;
  if (typeof data === "string") {
    if (/^(?:https?|data):/i.test(data)) return data;
    return `data:${concrete(mediaType)};base64,${data}`;
  }
  if (data instanceof Uint8Array) return `data:${concrete(mediaType)};base64,${base64(data)}`;
  if (data instanceof ArrayBuffer) return dataUrl(new Uint8Array(data), mediaType);
  const { type, data: inner, url } = (data ?? {}) as { type?: unknown; data?: unknown; url?: unknown };
  if (type === "data") return dataUrl(inner, mediaType);
  return type === "url" ? dataUrl(url, mediaType) : undefined;
}

/** A `data:` address names one type; servers look at an image itself. */
function concrete(mediaType: string): string {
  return mediaType === "image/*" || mediaType === "image" ? "image/png" : mediaType;
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
