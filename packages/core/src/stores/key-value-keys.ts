/** What stands under a key: a memory, or with a `segment` (32 digits of `0-9a-f`) that part of its history. */
export interface KeyOwner {
  readonly memoryId: string;
  readonly segment?: string | undefined;
}

/** How what the store keeps becomes keys of the database, and back. */
export interface KeyCodec {
  encode(memoryId: string, segment?: string): string;
  /** `undefined`: the key is none of ours. */
  decode(key: string): KeyOwner | undefined;
}

/** With a longer id a segment's key would have more than 512 bytes, or 1,024 digits. In bytes. */
export const longestWithSegments = 478;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function toHex(text: string): string {
  return Array.from(encoder.encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(digits: string): string | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(digits)) return undefined;
  const bytes = (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  try {
    return decoder.decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}

/** The digits of a segment stand at the end of its key. */
function segmentIn(key: string): string | undefined {
  return /[0-9a-f]{32}$/.exec(key)?.[0];
}

const hex: KeyCodec = {
  // No text in UTF-8 has a byte FF, so no memory's key begins with one.
  encode: (memoryId, segment) => (segment === undefined ? toHex(memoryId) : `ff${toHex(memoryId)}${segment}`),
  decode(key) {
    const segment = key.startsWith("ff") ? segmentIn(key) : undefined;
    const memoryId = fromHex(segment === undefined ? key : key.slice(2, -32));
    return memoryId === undefined ? undefined : { memoryId, segment };
  },
};

const id: KeyCodec = {
  // A memory's key begins with no `~`, or with two.
  encode(memoryId, segment) {
    if (segment !== undefined) return `~:${memoryId}${segment}`;
    return memoryId.startsWith("~") ? `~${memoryId}` : memoryId;
  },
  decode(key) {
    if (!key.startsWith("~")) return { memoryId: key };
    if (key.startsWith("~~")) return { memoryId: key.slice(1) };
    const memoryId = key.slice(2, -32);
    const segment = key.startsWith("~:") && memoryId !== "" ? segmentIn(key) : undefined;
    return segment === undefined ? undefined : { memoryId, segment };
  },
};

/** By the names of the option `keys`. */
export const keyCodecs: Readonly<Record<"id" | "hex", KeyCodec>> = { id, hex };

/** The segments among these, by their memories. */
export function segmentsBy(owners: readonly KeyOwner[]): ReadonlyMap<string, readonly string[]> {
  const byMemory = new Map<string, string[]>();
  for (const { memoryId, segment } of owners) {
    if (segment === undefined) continue;
    const segments = byMemory.get(memoryId) ?? [];
    byMemory.set(memoryId, segments);
    segments.push(segment);
  }
  return byMemory;
}
