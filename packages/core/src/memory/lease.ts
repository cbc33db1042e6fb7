/** Who runs a turn of a memory. It stands in the memory's head, and changes like the rest, from version to version. */
export interface Lease {
  /** The memory object that runs the turn. */
  readonly holder: string;
  /** Raised by the holder to show that it is alive; never the same twice. */
  readonly beat: number;
  /** A lease that has not changed for that long is free. */
  readonly leaseMs: number;
  /** Set once somebody has asked the turn to end. */
  readonly stop?: true;
}

export function isLease(value: unknown): value is Lease {
  const { holder, beat, leaseMs, stop } = (value ?? {}) as Partial<Record<keyof Lease, unknown>>;
  const areNumbers = Number.isSafeInteger(beat) && Number.isSafeInteger(leaseMs);
  return typeof holder === "string" && areNumbers && (stop === undefined || stop === true);
}

/** Whether a memory's lease is the one that was written, be it that somebody has asked the turn to end since. */
export function isWritten(written: Lease | undefined, now: Lease | undefined): boolean {
  const isSame = now?.holder === written?.holder && now?.beat === written?.beat;
  return isSame && (written?.stop === undefined || now?.stop === true);
}

/**
 * Stands in a version behind which only the lease has changed, after the version that the messages have: who has looked
 * at these, and decides on them, is in nobody's way.
 */
const mark = "~";

/** A version for a change of the lease alone. `name` is never met again. */
export function leaseVersion(version: string | null, name: string): string {
  return `${contentVersion(version) ?? ""}${mark}${name}`;
}

/** Whether two versions are of the same messages. */
export function isSameContent(one: string | null, other: string | null): boolean {
  return one === other || contentVersion(one) === contentVersion(other);
}

/** `null` for a memory that has begun with a lease alone, as for none. */
function contentVersion(version: string | null): string | null {
  return version?.split(mark, 1)[0] || null;
}
