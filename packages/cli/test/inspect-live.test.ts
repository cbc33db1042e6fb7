import { readdirSync } from "node:fs";
import { createChatMemory } from "@turnkeep/core";
import { postgresStore } from "@turnkeep/store-postgres";
import { describe, expect, inject, it } from "vitest";
import { testFolder } from "./folder.ts";
import { type Started, startProgram } from "./process.ts";
import { emptyStores } from "./template.ts";

const emptyStore = emptyStores();

const { command, server } = inject("programs");

/** The last number that a server has printed. */
const acknowledgedIn = (out: string): number => Number(out.trimEnd().split(/;\n?/).at(-2));

/** What a folder holds after whoever had it open was killed. */
async function messagesIn(folder: string): Promise<unknown[]> {
  const store = postgresStore({ folder });
  const memory = createChatMemory({ id: "m", store });
  const found: unknown[] = [];
  for await (const { messages } of memory.historyPages()) {
    for (const { message } of messages) found.push(message.content);
  }
  await memory.close();
  await store.close();
  return found;
}

/** Each look starts a process that copies and opens a database, while another one writes as fast as it can. */
const patience = { timeout: 600_000 };

const looks = process.env.TURNKEEP_THOROUGH ? 3 : 1;

const writers: readonly [string, readonly string[]][] = [
  ["by PGlite, which writes its files anew all the time", ["client", "checkpoints"]],
  ["by the store", ["folder"]],
];

describe("a folder that a server has open and writes to", patience, () => {
  it.each(writers.slice(0, process.env.TURNKEEP_THOROUGH ? 2 : 1))(
    "%s loses nothing when it is inspected and the server is killed",
    async (_, how) => {
      const [folder, temporary] = [emptyStore(), testFolder()];
      const serving = startProgram([server, folder, ...how]);
      let acknowledged = acknowledgedIn(await serving.shown("\n20;"));
      for (let look = 1; look <= looks; look++) {
        const inspected = startProgram(
          [command, "inspect", "--store", folder, "m", "--json", "--limit", "1"],
          {
            TMPDIR: temporary,
          },
        );
        const { status, out, err } = await inspected.ended;
        expect({ status, err }).toEqual({ status: 0, err: "" });
        expect(JSON.parse(out).seq).toBeGreaterThanOrEqual(acknowledged);
        acknowledged = acknowledgedIn(await serving.shown(`\n${acknowledged + 70};`));
      }
      serving.child.kill("SIGKILL");
      acknowledged = acknowledgedIn((await serving.ended).out);
      expect(acknowledged).toBeGreaterThan(20 + 70 * looks - 1);
      const kept = await messagesIn(folder);
      expect(kept.length).toBeGreaterThanOrEqual(acknowledged);
      expect(kept).toEqual(kept.map((_, index) => `message ${index + 1}`));
      expect(readdirSync(temporary)).toEqual([]);
    },
  );

  it("leaves no copy behind when the look is stopped", async () => {
    const [folder, temporary] = [emptyStore(), testFolder()];
    await startProgram([server, folder, "folder"]).shown("\n20;");
    const looking = startProgram([command, "inspect", "--store", folder], { TMPDIR: temporary });
    const copied = (): string[] => readdirSync(temporary, { recursive: true, encoding: "utf8" });
    await expect
      .poll(copied, { timeout: 120_000, interval: 5 })
      .toContainEqual(expect.stringMatching(/PG_VERSION$/));
    looking.child.kill("SIGINT");
    expect(await looking.ended).toEqual({ status: 130, out: "", err: "" });
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("is refused to a replay, which leaves it alone", async () => {
    const folder = emptyStore();
    const serving: Started = startProgram([server, folder, "folder"]);
    await serving.shown("\n20;");
    const { status, err } = await startProgram([command, "replay", "-q", "--store", folder]).ended;
    expect(status).toBe(1);
    expect(err).toMatch(
      new RegExp(`^turnkeep: STORE_REFUSED: .* is open in process ${serving.child.pid}, since .*\n$`),
    );
    await serving.shown("\n60;");
    serving.child.kill("SIGKILL");
    await serving.ended;
    expect((await messagesIn(folder)).slice(0, 60)).toHaveLength(60);
  });
});
