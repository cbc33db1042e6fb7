const bytesOfId = 10;
/** Random bytes are fetched for many ids at once: one call costs as much for one id as for hundreds. */
const pool: Uint8Array<ArrayBuffer> = new Uint8Array(bytesOfId * 256);
let used = pool.length;

/** Each byte as two digits. */
const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

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
  const time = now.toString(16).padStart(12, "0");
  const version = hex[0x70 | (byte(0) & 0x0f)] as string;
  const variant = hex[0x80 | (byte(2) & 0x3f)] as string;
  const node = digits(4) + digits(5) + digits(6) + digits(7) + digits(8) + digits(9);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}${digits(1)}-${variant}${digits(3)}-${node}`;
}
