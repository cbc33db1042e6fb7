import { hex } from "../random.ts";
import { ConformanceError, tell } from "../support/expect.ts";
import { inPortions } from "../support/races.ts";
import { hookCases } from "./cases.ts";
import { type KeyValueHooks, testHooks } from "./hooks.ts";

/** What a value may hold that has no limit, and the most that is sent of one that has. */
const [usualBytes, ceilingBytes] = [2 * 2 ** 20, 16 * 2 ** 20];

/**
 * Tries the hooks of a `keyValueStore` by themselves: that a write and a delete happen over the revision that they name
 * and over no other, that of many at once one does, that a revision does not come back after a delete, and that keys and
 * values of every kind come back as they were. What it shows in a few steps, a store made of the hooks would lose once in
 * a thousand conversations. Give the hooks of a second client too, if the database can have several, and beside them the
 * options `keys` and `maxMemoryBytes` that the store gets: a value of `maxMemoryBytes` must work, 16 MiB at most are tried.
 *
 * Uses keys of its own, and removes them. Resolves if the hooks keep every promise of `KeyValueStoreOptions`; otherwise
 * rejects with a `ConformanceError` that lists those that are broken, each with what was seen. `list` is tried if it is
 * there.
 *
 * @example
 * ```ts
 * import { checkKeyValue } from "@turnkeep/conformance";
 *
 * const values = new Map<string, { value: string; revision: number }>();
 * let revisions = 0; // one counter for all keys, so that none gets a revision twice
 *
 * await checkKeyValue<number>({
 *   get: (key) => values.get(key),
 *   compareAndSet(key, value, revision) {
 *     if (values.get(key)?.revision !== revision) return false;
 *     values.set(key, { value, revision: ++revisions });
 *     return true;
 *   },
 *   delete: (key, revision) =>
 *     (revision === undefined || values.get(key)?.revision === revision) && values.delete(key),
 * });
 * ```
 */
export async function checkKeyValue<R extends {}>(
  hooks: KeyValueHooks<R>,
  second: KeyValueHooks<R> = hooks,
): Promise<void> {
  for (const name of ["get", "compareAndSet", "delete"] as const) {
    if (typeof hooks?.[name] === "function" && typeof second?.[name] === "function") continue;
    throw new TypeError(`checkKeyValue needs hooks: an object with a function ${name}()`);
  }
  const [one, two] = [testHooks(hooks), testHooks(second)];
  const keyOf = (id: string): string => (hooks.keys === "hex" ? Buffer.from(id).toString("hex") : id);
  const mostBytes = Math.min(hooks.maxMemoryBytes ?? usualBytes, ceilingBytes);
  const broken: string[] = [];
  for (const { name, sentence, run } of hookCases) {
    const made: string[] = [];
    const keys = (ends: readonly string[]): string[] => {
      const middle = hex(Math.random) + hex(Math.random);
      const some = ends.map((end) => keyOf(`${end}${middle}${end}`));
      made.push(...some);
      return some;
    };
    try {
      await run({ one, two, mostBytes, keys, key: () => keys([""])[0] as string });
    } catch (error) {
      broken.push(`- ${name}: ${tell(error)}\n  contract: ${sentence}`);
    }
    await inPortions(made, async (key) => one.delete(key, undefined).catch(() => {}));
  }
  if (broken.length === 0) return;
  throw new ConformanceError(
    `The hooks break ${broken.length} of the ${hookCases.length} promises:\n${broken.join("\n")}`,
  );
}
