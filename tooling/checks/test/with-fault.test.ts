import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { withFault } from "../src/with-fault.mjs";

/** A file that is right. */
function sourceFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-fault-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "source.ts");
  writeFileSync(path, "right");
  return path;
}

const spoilt = (source: string): string => source.replace("right", "wrong");

test("a file has the fault while something runs, and not afterwards", async () => {
  const path = sourceFile();
  expect(await withFault(path, spoilt, () => readFileSync(path, "utf8"))).toBe("wrong");
  expect(readFileSync(path, "utf8")).toBe("right");
  const failed = withFault(path, spoilt, () => {
    throw new Error("no such program");
  });
  await expect(failed).rejects.toThrow("no such program");
  expect(readFileSync(path, "utf8")).toBe("right");
});

test("what somebody has written meanwhile stays", async () => {
  const path = sourceFile();
  const told = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  await withFault(path, spoilt, () => writeFileSync(path, "theirs"));
  expect(readFileSync(path, "utf8")).toBe("theirs");
  expect(told.mock.calls.join()).toContain(`${path} was changed meanwhile`);
});

test.each([
  ["Ctrl-C, which reaches all processes", "SIGINT"],
  ["a signal to the first alone", "SIGTERM"],
] as const)("%s leaves no fault behind", async (_, signal) => {
  const path = sourceFile();
  const runs = `require("node:fs").writeFileSync(${JSON.stringify(`${path}.runs`)}, ""); setInterval(() => {}, 1_000)`;
  const sources = ["with-fault", "runner/execute"].map((name) =>
    JSON.stringify(new URL(`../src/${name}.mjs`, import.meta.url).href),
  );
  const program = `import { withFault } from ${sources[0]};
    import { execute } from ${sources[1]};
    const run = () => execute(process.execPath, ["-e", ${JSON.stringify(runs)}]);
    await withFault(${JSON.stringify(path)}, () => "wrong", run);
    console.log("goes on");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  const ended = once(child, "close");
  await expect.poll(() => existsSync(`${path}.runs`)).toBe(true);
  expect(readFileSync(path, "utf8")).toBe("wrong");
  process.kill(signal === "SIGINT" ? -Number(child.pid) : Number(child.pid), signal);
  expect(await ended).toEqual([130, null]);
  expect(readFileSync(path, "utf8")).toBe("right");
  expect(out).toBe("");
});
