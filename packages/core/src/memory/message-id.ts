const wordsOfId = 3;
/** Random bits are fetched for many ids at once: the call costs as much for one as for hundreds. */
const pool: Uint32Array<ArrayBuffer> = new Uint32Array(wordsOfId * 256);
let used = pool.length;

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds since the epoch, then random bits, so that ids
 * sort roughly by time and need no coordination.
 */
export function uuidv7(now: number = Date.now()): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const next = (): string => (pool[used++] as number).toString(16).padStart(8, "0");
  const time = now.toString(16).padStart(12, "0");
  const first = next();
  const second = next();
  const third = next();
  // Two random bits of the digit that names the variant.
  const variant = "89ab".charAt(Number.parseInt(first.charAt(6), 16) & 3);
  const node = second + third.slice(0, 4);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${first.slice(0, 3)}-${variant}${first.slice(3, 6)}-${node}`;
}
