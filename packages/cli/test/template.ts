import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { openPlace } from "../src/places/place.ts";
import { testFolder } from "./folder.ts";

/** For the tests of one file: an empty store, made once. To make one takes seconds, to copy it none. */
export function emptyStores(): () => string {
  const template = mkdtempSync(join(tmpdir(), "turnkeep-cli-template-"));
  beforeAll(async () => {
    const place = await openPlace(template, "write");
    await place.close();
  });
  afterAll(() => rmSync(template, { recursive: true, force: true }));
  return () => {
    const store = testFolder();
    cpSync(template, store, { recursive: true });
    return store;
  };
}
