const randomBytesOfId = 10;
/** Random bytes are fetched for many ids at once: the call costs as much for one as for hundreds. */
const pool: Uint8Array<ArrayBuffer> = new Uint8Array(randomBytesOfId * 256);
let used = pool.length;

const hexOf: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds since the epoch, then random bits, so that ids
 * sort roughly by time and need no coordination.
 */
export function uuidv7(now: number = Date.now()): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const hex = (byte: number): string => hexOf[byte] as string;
  const next = (): number => pool[used++] as number;
  const time = now.toString(16).padStart(12, "0");
  const version = hex((next() & 0x0f) | 0x70) + hex(next());
  const variant = hex((next() & 0x3f) | 0x80) + hex(next());
  const node = hex(next()) + hex(next()) + hex(next()) + hex(next()) + hex(next()) + hex(next());
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${node}`;
}
