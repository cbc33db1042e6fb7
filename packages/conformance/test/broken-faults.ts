import { conflictError, corruptError, isTurnkeepError, TurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { applied, roundTrip } from "./reference-store.ts";

const open = "a fault of the database is open, with the driver's error as its cause";
const passes = "a fault that passes leaves all of an update or none, and the client goes on";

/** A store that tells what is open in another way. */
function telling(
  tell: (error: TurnkeepError, memoryId: string) => unknown,
): NonNullable<BrokenStore["wrap"]> {
  return (base) => ({
    updateMessages: (id, update, options) =>
      base.updateMessages(id, update, options).catch((error: unknown) => {
        throw isTurnkeepError(error, "STORE_UNAVAILABLE") ? tell(error, id) : error;
      }),
  });
}

/** What becomes of a call whose database fails, or loses its answer. */
export const brokenFaults: readonly BrokenStore[] = [
  {
    fault: "tells every failure as a conflict",
    caughtBy: ["errors", open],
    wrap: telling((_, id) => conflictError(id, null)),
  },
  {
    fault: "tells no cause",
    caughtBy: ["errors", open],
    wrap: telling(({ message }) => new TurnkeepError("STORE_UNAVAILABLE", message)),
  },
  {
    fault: "repeats in its error what the driver's quotes",
    caughtBy: ["errors", "an error does not repeat what the driver's error quotes"],
    wrap: telling(({ cause }) => new TurnkeepError("STORE_UNAVAILABLE", String(cause), { cause })),
  },
  {
    fault: "takes a lost answer for a refusal",
    caughtBy: ["replay", "an update whose answer is lost is open, and sent again it is applied once"],
    wrap: telling(({ cause }) => new TurnkeepError("STORE_REFUSED", "Nothing was written", { cause })),
  },
  {
    fault: "repeats a statement that failed without the transaction that it was in",
    caughtBy: ["atomicity", passes],
    wrap: (base, { memories, beforeWrite }) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(id, update, options).catch((error: unknown) => {
          const memory = memories.get(id);
          if (!isTurnkeepError(error, "STORE_UNAVAILABLE") || memory?.version !== update.expected)
            throw error;
          beforeWrite?.();
          memory.rows = applied(memory, update).rows;
          throw error;
        }),
    }),
  },
  {
    fault: "is of no use after a fault, though it has passed",
    caughtBy: ["atomicity", passes],
    wrap: (base) => {
      let failure: unknown;
      return {
        async updateMessages(id, update, options) {
          if (failure !== undefined) throw failure;
          await base.updateMessages(id, update, options).catch((error: unknown) => {
            if (isTurnkeepError(error, "STORE_UNAVAILABLE")) failure = error;
            throw error;
          });
        },
      };
    },
  },
  {
    fault: "repeats for ever what a fault ends",
    caughtBy: ["errors", "a call whose fault does not pass ends"],
    timeoutMs: 500,
    wrap: (base) => {
      let closed = false;
      return {
        async updateMessages(id, update, options) {
          for (;;) {
            try {
              return await base.updateMessages(id, update, options);
            } catch (error) {
              if (closed || !isTurnkeepError(error, "STORE_UNAVAILABLE")) throw error;
              await roundTrip();
            }
          }
        },
        async close() {
          closed = true;
          await base.close();
        },
      };
    },
  },
  {
    fault: "tells its address, password and all, when nobody answers there",
    caughtBy: ["errors", "no error tells a secret of the address"],
    wrap: (base, { address }) => ({
      getMessages: (id, options) =>
        base.getMessages(id, options).catch((cause: unknown) => {
          if (address === undefined) throw cause;
          throw new TurnkeepError("STORE_UNAVAILABLE", `Nobody answers at ${address}`, { cause });
        }),
    }),
  },
  {
    fault: "cannot delete a memory of which a record is gone",
    caughtBy: ["errors", "whatever record is gone, no other memory is harmed, and this one can be deleted"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        if (memories.get(id)?.rows?.some(({ payload }) => payload === ""))
          throw corruptError(id, "a record is gone");
        await base.deleteMessages(id, options);
      },
    }),
  },
];
