import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeLoad } from "@turnkeep/store-tests";
import { openStore } from "./target.ts";

// Processes of their own write to one file, and SQLite's locks are all that is between them.
describeLoad({
  name: "SQLite",
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "turnkeep-sqlite-"));
    return {
      url: join(folder, "chat.db"),
      restart: async () => {},
      stop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
  openStore,
  writer: new URL("writer.ts", import.meta.url),
});
