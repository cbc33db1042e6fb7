import type { ConformanceHarness } from "@turnkeep/conformance";
import { sqliteStore } from "../src/index.ts";
import { failingClient, newDatabaseFile, rawRead, rawRemove, rawWrite, settingsOf } from "./support.ts";

const file = newDatabaseFile();
const watcher = file.open();
const ends: (() => void)[] = [() => watcher.close()];

/** How the conformance kit gets at the store: from vitest, and from the command `turnkeep-conformance`. */
const harness: ConformanceHarness = {
  async create(options) {
    const store = sqliteStore({ url: file.url, ...options });
    await store.migrate();
    return store;
  },
  destroy() {
    for (const end of ends) end();
    file.remove();
  },
  // A file has no server to restart: that the kit closes its stores and opens others is the restart.
  reopen() {},
  rawRead: (memoryId) => rawRead(watcher, memoryId),
  rawWrite: (memoryId, texts) => rawWrite(watcher, memoryId, texts),
  rawRemove: (memoryId, index) => rawRemove(watcher, memoryId, index),
  fault(options) {
    const client = failingClient(file, options);
    ends.push(() => client.close());
    return sqliteStore({ client });
  },
  given() {
    const client = file.open();
    ends.push(() => client.close());
    return {
      store: sqliteStore({ client }),
      isOpen: () => client.isOpen,
      settings: () => settingsOf(client),
    };
  },
  elsewhere: () => ({ module: new URL("elsewhere.ts", import.meta.url), data: file.url }),
};
export default harness;
