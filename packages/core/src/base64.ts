const chunkLength = 0x2000;

/** Standard base64 with padding (RFC 4648, section 4), without Node's Buffer. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += chunkLength) {
    // Spreading the bytes instead goes through their iterator, at several times the cost.
    const chunk = bytes.subarray(start, start + chunkLength) as unknown as number[];
    binary += String.fromCharCode.apply(null, chunk);
  }
  return btoa(binary);
}

/** The bytes of base64 text; throws if it is not base64. */
export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** The blanks that `atob` passes over: some writers break lines. */
const blanks = [" ", "\n", "\r", "\t", "\f"];

/** How many bytes a base64 text stands for, without decoding it. */
export function base64Bytes(text: string): number {
  // Several times faster than to look for them all at once: a view may ask for the size of each image again.
  const hasBlanks = blanks.some((blank) => text.includes(blank));
  const full = hasBlanks ? text.replace(/[ \n\r\t\f]+/g, "") : text;
  const padding = full.endsWith("==") ? 2 : full.endsWith("=") ? 1 : 0;
  return Math.floor(((full.length - padding) * 3) / 4);
}
