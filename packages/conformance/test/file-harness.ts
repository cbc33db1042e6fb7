import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { ConformanceHarness } from "../src/index.ts";
import fileStore, { type FileStoreFault } from "./fixtures/file-store.ts";

/** A harness over files, with a client elsewhere: a database that two processes share. */
export async function fileHarness(fault?: FileStoreFault): Promise<ConformanceHarness> {
  const module = join(inject("kit"), "file-store.js");
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-files-"));
  const data = { folder, fault };
  return {
    create: () => fileStore(data),
    elsewhere: () => ({ module, data }),
    destroy: () => rmSync(folder, { recursive: true }),
  };
}
