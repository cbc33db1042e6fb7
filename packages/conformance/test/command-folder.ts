import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder in a built kit with these files, removed after the test. */
export function folderWith(kit: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(join(kit, "tests"), { recursive: true });
  const folder = mkdtempSync(join(kit, "tests", "harness-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
