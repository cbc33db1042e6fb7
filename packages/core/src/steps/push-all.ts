/** Puts values at the end of a list. `list.push(...values)` fails for more values than a call may have arguments. */
export function pushAll<T>(list: T[], values: readonly T[]): void {
  for (const value of values) list.push(value);
}
