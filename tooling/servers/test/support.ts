import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { ProcessIdentity } from "../src/process.ts";
import { recordsFolder } from "../src/records.ts";

/** A temporary folder of this test, which the user that servers run as can reach too. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-test-"));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Moves the records into a folder of this test: another run that starts now would clear the common one up. */
export function ownRecords(): string {
  const folder = testFolder();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  return folder;
}

/** The same behind a link, in a folder whose name has a blank and a letter beyond ASCII. */
export function oddRecords(): void {
  const folder = testFolder();
  mkdirSync(join(folder, "zoë\u2019s files"));
  symlinkSync(join(folder, "zoë\u2019s files"), join(folder, "link"));
  vi.stubEnv("TMPDIR", join(folder, "link"));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

/** The processes that the records name as servers. */
export function recordedServers(): ProcessIdentity[] {
  const folder = recordsFolder();
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const { server } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { server?: ProcessIdentity };
      return server === undefined ? [] : [server];
    });
}

/** The environment without what would choose a server. */
export function neutralEnvironment(changes: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^TURNKEEP_(DYNAMO|MARIADB|MONGO|POSTGRES|REDIS|REDIS_7_0|VALKEY)_(URL|SOURCE)$/.test(name),
  );
  return { ...Object.fromEntries(kept), ...changes };
}
