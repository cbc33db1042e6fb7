import { readdirSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { ServerUnavailable } from "../src/index.ts";
import { isAlive } from "../src/process.ts";
import { recordsFolder } from "../src/records.ts";
import { neutralEnvironment, oddRecords, ownRecords, recordedServers } from "./support.ts";

interface Server {
  readonly url: string;
  readonly source: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Kind<S extends Server> {
  start(options: { readonly env: NodeJS.ProcessEnv; readonly log: () => void }): Promise<S>;
  /** One that is a process of this machine. */
  startOwn(options: { readonly env: NodeJS.ProcessEnv; readonly log: () => void }): Promise<S>;
  expectToWork(server: S): Promise<void>;
  /** The variable that names a server to use. */
  readonly variable: string;
  /** The address of one that runs. */
  readonly running: () => string;
  /** An address with a password where nobody listens: port 1 of 127.0.0.1. */
  readonly deaf: string;
}

/** Registers what holds of the server of every database. */
export function describeEveryServer<S extends Server>(kind: Kind<S>): void {
  const { start, startOwn, expectToWork, variable, running, deaf } = kind;
  const log = (): void => {};

  describe("like every server", () => {
    it("uses an address from the environment, and leaves that server running", async () => {
      const server = await start({ env: neutralEnvironment({ [variable]: running() }), log });
      expect(server).toMatchObject({ source: "env", url: running() });
      await expectToWork(server);
      await expect(server.restart()).rejects.toThrow("a server from env cannot be restarted");
      await server.stop();
      await expectToWork(server);
    });

    it("puts no other server in the place of an address that does not answer", async () => {
      const started = start({ env: neutralEnvironment({ [variable]: deaf }), log });
      const error: unknown = await started.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ServerUnavailable);
      const reason = expect.stringContaining(`${variable} (127.0.0.1:1) does not answer: `);
      expect((error as ServerUnavailable).attempts).toEqual([{ source: "env", reason }]);
      expect(String(error)).not.toContain("secret");
    });

    it("starts in a folder behind a link, with a blank and a letter beyond ASCII in its name", async () => {
      oddRecords();
      const server = await startOwn({ env: neutralEnvironment({ LANG: "C", LC_ALL: "C" }), log });
      onTestFinished(() => server.stop());
      await expectToWork(server);
    });

    it("leaves no process, no data and no record when it is stopped, also after a restart", async () => {
      ownRecords();
      const server = await startOwn({ env: neutralEnvironment(), log });
      await server.restart();
      const [process] = recordedServers();
      if (process === undefined) throw new Error("the server was not recorded");
      expect(isAlive(process)).toBe(true);
      await server.stop();
      await server.stop();
      expect(isAlive(process)).toBe(false);
      expect(readdirSync(recordsFolder())).toEqual([]);
    });
  });
}
