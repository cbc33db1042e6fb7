import { isTurnkeepError } from "./errors.ts";

/**
 * Makes a change that holds for one state of a memory alone: again, from its beginning, where somebody else wrote first,
 * `mostAttempts` times at most (default 8). Without a limit it ends too, unless others never cease to write.
 *
 * Errors: those of the change; `VERSION_CONFLICT` if others kept writing.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { despiteConflicts } from "@turnkeep/core/store-kit";
 *
 * const memory = createChatMemory();
 * await despiteConflicts(() =>
 *   memory.transaction(async (transaction) => {
 *     const said = await transaction.entries();
 *     transaction.add(user(`Message ${said.length + 1}`));
 *   }),
 * );
 * ```
 */
export async function despiteConflicts<T>(change: () => Promise<T>, mostAttempts = 8): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change();
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT") || attempt === mostAttempts) throw error;
    }
  }
}
