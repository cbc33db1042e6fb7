import { describeCrashes, stumble } from "@turnkeep/store-tests";
import { expect } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { dying, hurried, idsStored, itemsBeside, itemsIn, useOwnTable, wrapped } from "./support.ts";

const { tableName, client } = useOwnTable();

const slow = wrapped(client, async (_, send) => {
  await stumble();
  return send();
});

describeCrashes({
  /** In the head, in a row with others, in one of its own, in one of parts. */
  bytes: [40, 40, 40, 40, 600, 600, 3_100, 5_000, 40_000],
  many: 110,
  writes: 130,
  conflicts: process.env.TURNKEEP_THOROUGH ? 80 : 30,
  open: (step) => dynamoStore({ client: step === undefined ? slow : dying(slow, { step }), tableName }),
  openLate: () => dynamoStore({ client: hurried(slow), tableName }),
  async expectClean(memoryId, kept) {
    expect(await idsStored(client, tableName, memoryId)).toEqual(kept.map(({ id }) => id).sort());
    const items = await itemsIn(client, tableName, `memory:${memoryId}`);
    const left = items.filter(({ sk }) => sk?.S !== "head").map(({ sk }) => sk?.S?.split("/")[1]);
    // What leads to messages of an update that was refused, or, empty too, of one that died as the memory was deleted.
    const mayStay = kept.length === 0 ? ["i"] : ["i", "m", "s"];
    expect(left.filter((kind) => !mayStay.includes(kind ?? ""))).toEqual([]);
    expect(items.find(({ sk }) => sk?.S === "head")?.pending).toBeUndefined();
    // The entry of the listing.
    expect(await itemsBeside(client, tableName, memoryId)).toHaveLength(kept.length === 0 ? 0 : 1);
  },
});
