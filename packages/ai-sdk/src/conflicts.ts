import { isTurnkeepError } from "@turnkeep/core";

const mostAttempts = 8;

/**
 * Makes a change that holds for one state of a memory alone: again, from its beginning, where somebody else wrote first.
 * Errors: those of the change; `VERSION_CONFLICT` if others kept writing.
 */
export async function despiteConflicts<T>(change: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change();
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT") || attempt === mostAttempts) throw error;
    }
  }
}
