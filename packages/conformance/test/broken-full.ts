import { isTurnkeepError, TurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { fullCapabilities, referenceStore } from "./reference-store.ts";

const capabilities = { maxMessageBytes: 512 * 1024, maxMemoryBytes: 1024 * 1024 };
const caughtBy = [
  "sizes",
  "a full memory says so before anything is written, and goes on once there is room",
] as const;

/** Stores that declare how much a memory may hold. */
export const brokenFull: readonly BrokenStore[] = [
  {
    fault: "tells that a memory is full as if a repeat might help",
    caughtBy,
    capabilities,
    wrap: (base) => ({
      async updateMessages(memoryId, update, options) {
        try {
          await base.updateMessages(memoryId, update, options);
        } catch (cause) {
          if (!isTurnkeepError(cause, "MEMORY_FULL")) throw cause;
          throw new TurnkeepError("STORE_UNAVAILABLE", "the value is too large", { cause });
        }
      },
    }),
  },
  {
    fault: "declares how much a memory may hold, and holds more",
    caughtBy,
    capabilities,
    wrap: (_, database, options) => {
      const { updateMessages } = referenceStore(database, fullCapabilities, options);
      return { updateMessages };
    },
  },
  {
    fault: "takes nothing any more from a memory that was full once",
    caughtBy,
    capabilities,
    wrap: (base) => {
      let full: unknown;
      return {
        async updateMessages(memoryId, update, options) {
          if (full !== undefined) throw full;
          try {
            await base.updateMessages(memoryId, update, options);
          } catch (error) {
            if (isTurnkeepError(error, "MEMORY_FULL")) full = error;
            throw error;
          }
        },
      };
    },
  },
];
