/** Freezes what JSON can hold. Binary data cannot be frozen, nor can what a `URL` or a `Date` holds: they stay as they are. */
export function deepFreeze<T>(value: T): T {
  const pending: object[] = canFreeze(value) ? [value] : [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    Object.freeze(next);
    for (const member of Object.values(next)) if (canFreeze(member)) pending.push(member);
  }
  return value;
}

function canFreeze(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value);
}
