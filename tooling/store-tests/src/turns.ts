import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatMemory, type ChatMemoryStore, createChatMemory, type ModelMessage } from "@turnkeep/core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bundled } from "./processes.ts";
import type { TurnerTask } from "./turner.ts";

/** Where processes take turns. */
export interface TurnsTarget {
  /** A new database. */
  readonly newUrl: () => string | Promise<string>;
  readonly openStore: (url: string) => Promise<ChatMemoryStore>;
  /** The program that calls `runTurner`. */
  readonly turner: URL;
}

const processes = process.env.TURNKEEP_THOROUGH ? 8 : 4;
const turnsOfEach = 6;

/** Registers the tests of processes that take turns in one memory. */
export function describeTurns({ newUrl, openStore, turner }: TurnsTarget): void {
  let place: Place;
  beforeAll(async () => {
    const [program, url] = await Promise.all([bundled(turner), newUrl()]);
    place = { program, url, store: await openStore(url) };
  });
  afterAll(() => place.store.close());

  test(`of ${processes} processes one at a time has the turn, and its messages stand together`, async () => {
    const run = new TurnsRun(place, "many");
    const children = Array.from({ length: processes }, (_, n) => run.start(`c${n}`, turnsOfEach, 60_000));
    await Promise.all(children.map(({ ended }) => ended));
    const lines = run.lines();
    expect(lines).toHaveLength(2 * processes * turnsOfEach);
    const texts = await run.texts();
    for (let at = 0; at < lines.length; at += 2) {
      const [client] = (lines[at] as string).split(" ");
      expect(lines.slice(at, at + 2)).toEqual([`${client} begins`, `${client} ends`]);
      expect(texts.slice(at, at + 2)).toEqual([`${client} asks`, `${client} answers`]);
    }
  }, 300_000);

  test("a process that is killed is replaced", async () => {
    const run = new TurnsRun(place, "killed");
    const killed = run.start("killed", 0, 2000);
    await run.until("killed begins");
    killed.child.kill("SIGKILL");
    await run.start("next", 1, 60_000).ended;
    expect(run.lines()).toEqual(["killed begins", "next begins", "next ends"]);
  }, 300_000);

  test("a process that stood still while it was replaced writes no more", async () => {
    const run = new TurnsRun(place, "frozen");
    const frozen = run.start("frozen", 0, 2000);
    await run.until("frozen begins");
    await expect.poll(() => run.texts(), { timeout: 60_000 }).toEqual(["frozen asks"]);
    frozen.child.kill("SIGSTOP");
    await run.start("next", 1, 60_000).ended;
    run.resume();
    frozen.child.kill("SIGCONT");
    await frozen.ended;
    const lines = run.lines();
    expect(lines.slice(0, 3)).toEqual(["frozen begins", "next begins", "next ends"]);
    expect(lines).toContain("frozen is told: TURN_LOST");
    expect(lines.filter((line) => line === "frozen writes: TURN_LOST").length).toBeGreaterThan(0);
    expect(await run.texts()).toEqual(["frozen asks", "next asks", "next answers"]);
  }, 300_000);

  test("a process is told to stop from another one", async () => {
    const run = new TurnsRun(place, "stopped");
    const held = run.start("held", 0, 60_000);
    await run.until("held begins");
    expect(await run.memory.running()).toBe(true);
    expect(await run.memory.requestStop()).toBe(true);
    await held.ended;
    expect(run.lines()).toEqual(["held begins", "held is told: ABORTED", "held ends"]);
    expect(await run.texts()).toEqual(["held asks", "held answers"]);
    expect(await run.memory.running()).toBe(false);
  }, 300_000);
}

/** A database, this process's store over it, and the program of the others. */
interface Place {
  readonly program: string;
  readonly url: string;
  readonly store: ChatMemoryStore;
}

/** One memory, and the processes that take turns in it. */
class TurnsRun {
  readonly memory: ChatMemory<ModelMessage>;
  readonly #place: Place;
  readonly #log: string;
  readonly #resumed: string;

  constructor(place: Place, memoryId: string) {
    this.#place = place;
    const folder = mkdtempSync(join(tmpdir(), "turnkeep-turns-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    this.#log = join(folder, "log");
    writeFileSync(this.#log, "");
    this.#resumed = join(folder, "resumed");
    this.memory = createChatMemory({ id: memoryId, store: place.store });
  }

  start(client: string, turns: number, leaseMs: number): { child: ChildProcess; ended: Promise<void> } {
    const task: TurnerTask = {
      url: this.#place.url,
      memoryId: this.memory.id,
      client,
      turns,
      leaseMs,
      log: this.#log,
      resumed: this.#resumed,
    };
    const child = spawn(process.execPath, [this.#place.program, JSON.stringify(task)], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "close").then(([code, signal]) => {
      if (code !== 0 && signal !== "SIGKILL") throw new Error(`${client} ended with ${code}`);
    });
    ended.catch(() => {});
    return { child, ended };
  }

  /** Tells a process that stands still what it learns when it goes on. */
  resume(): void {
    writeFileSync(this.#resumed, "");
  }

  lines(): string[] {
    return readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
  }

  async until(line: string): Promise<void> {
    const watcher = watch(this.#log);
    try {
      while (!this.lines().includes(line)) await once(watcher, "change");
    } finally {
      watcher.close();
    }
  }

  async texts(): Promise<unknown[]> {
    return (await this.memory.messages()).map(({ content }) => content);
  }
}
