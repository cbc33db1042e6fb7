import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { expect, test } from "vitest";
import { type ConformanceOptions, formatReport, runConformance } from "../src/index.ts";
import { type ReferenceOptions, referenceHarness } from "./reference-store.ts";

/** Lists the time of a write to the second. */
const inSeconds: NonNullable<ReferenceOptions["wrap"]> = (base) => ({
  async listMemories(query, options) {
    const { memories, ...page } = await base.listMemories(query, options);
    const seconds = (time: number) => Math.floor(time / 1000) * 1000;
    return {
      ...page,
      memories: memories.map((entry) => ({ ...entry, updatedAt: seconds(entry.updatedAt) })),
    };
  },
});

/** Designs that keep every sentence of the contract, and that a kit which asks for more would refuse. */
const honestStores: readonly (readonly [
  design: string,
  store: ReferenceOptions,
  chosen: ConformanceOptions,
])[] = [
  [
    "writes texts in pieces of 1 KB before it swaps the head",
    {
      wrap: (base, database) => ({
        async updateMessages(memoryId, update, options) {
          // Nobody sees a piece before the head names it.
          const pieces = Math.ceil((JSON.stringify(update) ?? "").length / 1024);
          for (let piece = 0; piece < pieces; piece++) database.beforeWrite?.();
          await base.updateMessages(memoryId, update, options);
        },
      }),
    },
    { names: ["a process that dies between two steps"] },
  ],
  [
    "keeps the time of a write to the second",
    {
      wrap: inSeconds,
    },
    { groups: ["list"] },
  ],
  [
    "keeps the time of a write to the second, by a clock that nobody moves",
    {
      realTime: true,
      wrap: inSeconds,
    },
    { names: ["updatedAt rises with each write"] },
  ],
  [
    "takes messages of 1 MB and no byte more",
    { capabilities: { maxMessageBytes: 1024 * 1024 } },
    { groups: ["sizes"] },
  ],
];

test.each(honestStores)("a store that %s conforms", async (_, store, chosen) => {
  const report = await runConformance(referenceHarness(store), chosen);
  expect(formatReport(report)).toContain("Passed a part of the kit");
});

test("a store whose calls wait for each other is not kept from its writes by the kit's own", async () => {
  let queue = Promise.resolve();
  const one = async <T>(call: () => Promise<T>): Promise<T> => {
    const running = queue.then(() => new Promise((resolve) => setTimeout(resolve, 3))).then(call);
    queue = running.then(
      () => {},
      () => {},
    );
    return running;
  };
  let updates = 0;
  const harness = referenceHarness({
    wrap: (base) => ({
      getMessages: (...given) => one(() => base.getMessages(...given)),
      updateMessages: (...given) => {
        updates++;
        return one(() => base.updateMessages(...given));
      },
    }),
  });
  const report = await runConformance(harness, { names: ["fifty writers"] });
  expect(formatReport(report)).toContain("Passed a part of the kit");
  // Each of 50 again and again until it is the one that wins: 1,275.
  expect(updates).toBeLessThan(550);
});

test("a client that died is closed, and asked for nothing once its case has ended", async () => {
  const harness = referenceHarness();
  let deletes = 0;
  let open = 0;
  const report = await runConformance(
    {
      ...harness,
      async fault(options) {
        const store = await harness.fault?.(options);
        if (store === undefined) throw new Error("The reference has fault");
        open++;
        return {
          ...store,
          deleteMessages(memoryId, given) {
            deletes++;
            return store.deleteMessages(memoryId, given);
          },
          async close() {
            open--;
            await store.close();
          },
        };
      },
    },
    { names: ["a process that dies between two steps of an update"] },
  );
  expect(formatReport(report)).toContain("Passed a part of the kit");
  expect({ deletes, open }).toEqual({ deletes: 0, open: 0 });
});

test("of a memory that was damaged and is then absent, the report says what was expected", async () => {
  const harness = referenceHarness({
    wrap: (base) => ({
      async getMessages(memoryId, options) {
        try {
          return await base.getMessages(memoryId, options);
        } catch (error) {
          if (!isTurnkeepError(error, "CORRUPT_RECORD")) throw error;
          return { version: null, nextSeq: 1, messages: [] };
        }
      },
    }),
  });
  const report = await runConformance(harness, { names: ["a corrupt record is named"] });
  expect(formatReport(report)).toContain("is CORRUPT_RECORD or what is left of it, never absent");
});
