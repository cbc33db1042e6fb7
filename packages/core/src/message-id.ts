const bytesOfId = 10;
/** Random bytes are fetched for many ids at once: one call costs as much for one id as for hundreds. */
const pool: Uint8Array<ArrayBuffer> = new Uint8Array(bytesOfId * 256);
let used = pool.length;

/** Each byte as two digits. */
const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The digits of the millisecond for which an id was made last. */
let lastNow = Number.NaN;
let lastTime = "";

function timeDigits(now: number): string {
  if (now === lastNow) return lastTime;
  // Byte by byte: engines are slow to write a number of more than 32 bits in hexadecimal.
  const time = (bit: number): string => hex[Math.floor(now / 2 ** bit) & 0xff] as string;
  lastNow = now;
  lastTime = `${time(40)}${time(32)}${time(24)}${time(16)}-${time(8)}${time(0)}`;
  return lastTime;
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds since the epoch, then random bits, so that ids
 * sort roughly by time and need no coordination.
 */
export function uuidv7(now: number = Date.now()): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const at = used;
  used += bytesOfId;
  const byte = (index: number): number => pool[at + index] as number;
  const digits = (index: number): string => hex[byte(index)] as string;
  const version = hex[0x70 | (byte(0) & 0x0f)] as string;
  const variant = hex[0x80 | (byte(2) & 0x3f)] as string;
  const node = digits(4) + digits(5) + digits(6) + digits(7) + digits(8) + digits(9);
  return `${timeDigits(now)}-${version}${digits(1)}-${variant}${digits(3)}-${node}`;
}

/** A short name that is never met again in one memory. */
export function randomName(): string {
  return uuidv7().slice(-12);
}
