import type { ChatMemoryStore } from "@turnkeep/core";
import { expect, test } from "vitest";
import { formatReport, runConformance } from "../src/index.ts";
import { describeConformance } from "../src/vitest.ts";
import { referenceHarness } from "./reference-store.ts";

/** Passes every call on, as a store that encrypts or offloads payloads would. */
class PassThroughStore implements ChatMemoryStore {
  readonly #inner: ChatMemoryStore;

  constructor(inner: ChatMemoryStore) {
    this.#inner = inner;
  }

  get capabilities(): ChatMemoryStore["capabilities"] {
    return this.#inner.capabilities;
  }

  getMessages: ChatMemoryStore["getMessages"] = (...given) => this.#inner.getMessages(...given);
  updateMessages: ChatMemoryStore["updateMessages"] = (...given) => this.#inner.updateMessages(...given);
  deleteMessages: ChatMemoryStore["deleteMessages"] = (...given) => this.#inner.deleteMessages(...given);
  getHistory: ChatMemoryStore["getHistory"] = (...given) => this.#inner.getHistory(...given);
  listMemories: ChatMemoryStore["listMemories"] = (...given) => this.#inner.listMemories(...given);
  sweep: ChatMemoryStore["sweep"] = (...given) => this.#inner.sweep(...given);
  close: ChatMemoryStore["close"] = () => this.#inner.close();
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const { create, ...harness } = referenceHarness();

describeConformance("a store that wraps another", {
  ...harness,
  create: async (options) => new PassThroughStore(await create(options)),
});

test("a fault of the inner store, and one of the wrapper, is found through the wrapper", async () => {
  const inner = referenceHarness({
    wrap: (base) => ({
      updateMessages: (id, { owner: _, ...update }, options) => base.updateMessages(id, update, options),
    }),
  });
  const through = await runConformance(
    { ...inner, create: async (options) => new PassThroughStore(await inner.create(options)) },
    { groups: ["basic"] },
  );
  expect(formatReport(through)).toContain("FAILED basic: the owner stays until an update names another");

  const forgetful = await runConformance(
    {
      ...harness,
      create: async (options) => {
        const inner = await create(options);
        const store = new PassThroughStore(inner);
        store.getMessages = (id) => inner.getMessages(id);
        return store;
      },
    },
    { groups: ["errors"], names: ["a signal that has fired"] },
  );
  expect(formatReport(forgetful)).toContain("getMessages with a signal that has fired");
});
