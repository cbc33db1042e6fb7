/** How the id of a memory becomes a key of the database, and back. */
export interface KeyCodec {
  encode(memoryId: string): string;
  /** `undefined`: the key is of no memory. */
  decode(key: string): string | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const hex: KeyCodec = {
  encode: (memoryId) =>
    Array.from(encoder.encode(memoryId), (byte) => byte.toString(16).padStart(2, "0")).join(""),
  decode(key) {
    if (!/^(?:[0-9a-f]{2})+$/.test(key)) return undefined;
    const bytes = (key.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
    try {
      return decoder.decode(Uint8Array.from(bytes));
    } catch {
      return undefined;
    }
  },
};

const id: KeyCodec = { encode: (memoryId) => memoryId, decode: (key) => key };

/** By the names of the option `keys`. */
export const keyCodecs: Readonly<Record<"id" | "hex", KeyCodec>> = { id, hex };
