import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "@turnkeep/store-tests";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type FolderLock, lockFolder, lockName } from "../src/folder/lock.ts";
import { lifeOf, startOf, thisProcess } from "../src/folder/process-mark.ts";

/** A holder is watched for this long where its process cannot be looked at; its own sign of life never comes. */
const quick = { beatMs: 600_000, patienceMs: 300 };
/** What never ends unless a sign of life is seen. */
const patient = { beatMs: 600_000, patienceMs: 3_000_000 };

const here = thisProcess();
const token = "00000000-0000-4000-8000-000000000000";
const since = "2026-01-01T00:00:00.000Z";

function lockedFolder(content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (content === undefined) return folder;
  writeFileSync(join(folder, lockName), typeof content === "string" ? content : JSON.stringify(content));
  return folder;
}

async function take(folder: string, times = quick): Promise<FolderLock> {
  const lock = await lockFolder(folder, times);
  onTestFinished(() => lock.release());
  return lock;
}

/** The id of a process that has ended. */
async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ["--eval", ""]);
  await once(child, "close");
  return child.pid as number;
}

async function runningProcess(): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ["--eval", "console.log(1); setInterval(() => {}, 60_000)"]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child.stdout, "data");
  return child as ChildProcess & { pid: number };
}

/** Stops the clock; answers what moves it on. */
function standingStill(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return (ms) => vi.setSystemTime(Date.now() + ms);
}

describe("a folder's lock", () => {
  test("is one file while it is held, and none afterwards", async () => {
    const folder = lockedFolder(undefined);
    const lock = await take(folder);
    expect(readdirSync(folder)).toEqual([lockName]);
    expect(JSON.parse(readFileSync(join(folder, lockName), "utf8"))).toMatchObject({
      pid: process.pid,
      host: hostname(),
    });
    await lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("of a process that runs is refused, with what to do", async () => {
    const { pid } = await runningProcess();
    const folder = lockedFolder({ token, since, ...here, pid, started: startOf(pid) });
    const path = join(folder, lockName);
    await expect(take(folder)).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringMatching(
        `is open in process ${pid}, since ${since} .*If there is no such process, delete ".*${lockName}"`,
      ),
    });
    expect(readdirSync(folder)).toEqual([lockName]);
    expect(JSON.parse(readFileSync(path, "utf8")).token).toBe(token);
  });

  test("of a process that does not say when it started is refused while a process has its id", async () => {
    const folder = lockedFolder({ token, since, ...here, started: undefined });
    await expect(take(folder)).rejects.toMatchObject({ code: "STORE_REFUSED" });
  });

  test.each([
    ["of a process that has ended", async () => ({ ...here, pid: await endedProcess() })],
    ["whose process's id is another process's now", async () => ({ ...here, started: "1" })],
    [
      "of a container's first process, found by that of the next container",
      async () => ({ ...here, started: "before" }),
    ],
  ])("%s is taken over at once", async (_, holder) => {
    const folder = lockedFolder({ token, since, ...(await holder()) });
    const lock = await take(folder, patient);
    expect(readdirSync(folder)).toEqual([lockName]);
    expect(() => lock.check()).not.toThrow();
  });

  const elsewhere = { token, since, pid: process.pid, started: here.started, within: "x", host: "far" };

  test.each([
    ["of another container or machine", elsewhere],
    ["that was never written to its end", '{"token":"0000'],
    ["that is empty", ""],
    ["that is another program's", "4711\n"],
    ["that names files elsewhere", { ...elsewhere, token: "../../victim" }],
  ])("%s is taken over when nothing has touched it for a while", async (_, content) => {
    const folder = lockedFolder(content);
    const lock = await take(folder);
    expect(readdirSync(folder)).toEqual([lockName]);
    expect(lock.isOwn()).toBe(true);
  });

  test("of another container or machine is refused once its holder shows that it lives", async () => {
    const folder = lockedFolder(elsewhere);
    const path = join(folder, lockName);
    const taken = take(folder, { ...patient, patienceMs: 300_000 });
    let seconds = 0;
    const beats = setInterval(() => utimesSync(path, ++seconds, seconds), 50);
    onTestFinished(() => clearInterval(beats));
    await expect(taken).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringContaining('of host "far", another machine or container'),
    });
  }, 120_000);

  test("is touched while it is held", async () => {
    const folder = lockedFolder(undefined);
    const path = join(folder, lockName);
    await take(folder, { beatMs: 20, patienceMs: 300_000 });
    utimesSync(path, 1, 1);
    await expect.poll(() => statSync(path).mtimeMs, { timeout: 60_000 }).toBeGreaterThan(1_000);
  });

  test("is touched by a program that gives no timer its turn", async () => {
    const later = standingStill();
    const folder = lockedFolder(undefined);
    const path = join(folder, lockName);
    const lock = await take(folder, patient);
    utimesSync(path, 1, 1);
    lock.check();
    expect(statSync(path).mtimeMs).toBe(1_000);
    later(patient.beatMs);
    lock.check();
    expect(statSync(path).mtimeMs).toBeGreaterThan(1_000);
  });

  test.each([
    ["another one's", (path: string) => writeFileSync(path, JSON.stringify(elsewhere))],
    ["removed", (path: string) => rmSync(path)],
  ])(
    "that is %s after a standstill is noticed before anything is written, and left alone",
    async (_, change) => {
      const later = standingStill();
      const folder = lockedFolder(undefined);
      const lock = await take(folder, patient);
      lock.check();
      change(join(folder, lockName));
      const left = readdirSync(folder);
      later(patient.beatMs);
      expect(() => lock.check()).toThrow(expect.objectContaining({ code: "STORE_REFUSED" }));
      await lock.release();
      expect(readdirSync(folder)).toEqual(left);
    },
  );

  test.each([1, 2, 3, 4, 5])(
    "of an ended process has one new holder, however many ask at once (%#)",
    async () => {
      const stale = { ...here, pid: await endedProcess() };
      const folder = lockedFolder({ token, since, ...stale });
      // One that died while it took over that lock, and another that died while it took over from the first.
      const second = token.replace("4", "5");
      writeFileSync(join(folder, `${lockName}.${token}`), JSON.stringify({ ...stale, token: second, since }));
      writeFileSync(join(folder, `${lockName}.${token}.${second}`), "");
      const asked = await Promise.allSettled(Array.from({ length: 20 }, () => take(folder)));
      expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const one of asked)
        if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "STORE_REFUSED" });
      expect(readdirSync(folder)).toEqual([lockName]);
    },
  );
});

describe("several processes that die while they hold a lock", { timeout: 600_000 }, () => {
  let program: string;
  beforeAll(async () => {
    program = await bundled(new URL("folder-holder.ts", import.meta.url));
  });

  test("never hold it two at once", async () => {
    const folder = lockedFolder(undefined);
    let rounds = 0;
    async function holders(): Promise<void> {
      while (rounds < 40) {
        const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] });
        let said = "";
        child.stdout.on("data", (text) => {
          said += text;
        });
        await once(child, "close");
        rounds += said.match(/held/g)?.length ?? 0;
        expect(said).not.toContain("two");
      }
    }
    await Promise.all([holders(), holders(), holders()]);
  });
});

describe("a process", () => {
  test("is known by its start, and gone when it has ended", async () => {
    const child = await runningProcess();
    const mark = { ...here, pid: child.pid, started: startOf(child.pid) };
    expect(lifeOf(mark)).toBe("alive");
    expect(lifeOf({ ...mark, started: here.started })).toBe("gone");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(lifeOf(mark)).toBe("gone");
  });

  test("of a system without /proc is known by ps", async () => {
    const { pid } = await runningProcess();
    const started = startOf(pid, "/nowhere");
    // "Thu Nov 26 12:00:00 2026"
    expect(started).toMatch(/ \d\d:\d\d:\d\d \d{4}$/);
    expect(startOf(pid, "/nowhere")).toBe(started);
  });

  test.runIf(existsSync("/proc/self/stat"))("that its parent has not asked for is gone", async () => {
    // The shell becomes a program that asks for no child.
    const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 601"]);
    onTestFinished(() => {
      parent.kill("SIGKILL");
    });
    const [said] = await once(parent.stdout, "data");
    const nameOfParent = (): string => readFileSync(`/proc/${parent.pid}/comm`, "utf8").trim();
    await expect.poll(nameOfParent, { timeout: 60_000 }).toBe("sleep");
    const mark = { ...here, pid: Number(said), started: startOf(Number(said)) };
    expect(lifeOf(mark)).toBe("alive");
    process.kill(mark.pid, "SIGKILL");
    const state = (): string => readFileSync(`/proc/${mark.pid}/stat`, "utf8").replace(/^.*\) (.).*$/s, "$1");
    await expect.poll(state, { timeout: 60_000 }).toBe("Z");
    process.kill(mark.pid, 0);
    expect(lifeOf(mark)).toBe("gone");
  });
});
