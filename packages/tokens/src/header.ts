/** A medium as a message carries it: base64 text or bytes. */
export type MediumData = string | Uint8Array | ArrayBuffer;

/** Reads single bytes of a medium, wherever they are, decoding no more than it is asked for; NaN where there are none. */
export interface Header {
  readonly text: (start: number, length: number) => string;
  /** A whole number, most significant byte first. */
  readonly big: (place: number, bytes: number) => number;
  readonly little: (place: number, bytes: number) => number;
  /** A number of IEEE 754, in 4 or 8 bytes, most significant first. */
  readonly float: (place: number, bytes: number) => number;
}

export function headerOf(data: MediumData): Header {
  const at = reader(data);
  return {
    text(start, length) {
      let text = "";
      for (let index = 0; index < length; index += 1) text += String.fromCharCode(at(start + index));
      return text;
    },
    big(place, bytes) {
      let value = 0;
      for (let index = 0; index < bytes; index += 1) value = value * 256 + at(place + index);
      return value;
    },
    little(place, bytes) {
      let value = 0;
      for (let index = bytes - 1; index >= 0; index -= 1) value = value * 256 + at(place + index);
      return value;
    },
    float(place, bytes) {
      const view = new DataView(new ArrayBuffer(8));
      for (let index = 0; index < 8; index += 1) view.setUint8(index, at(place + index));
      return bytes === 4 ? view.getFloat32(0) : bytes === 8 ? view.getFloat64(0) : Number.NaN;
    },
  };
}

/** The byte at a position; NaN if there is none. */
type ByteAt = (place: number) => number;

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
