/**
 * Runs a function for each item, at most this many at once, started in order. After a failure no more are started, and
 * the error is thrown when the running ones are done.
 */
export async function eachBounded<T>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      try {
        await run(item);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
