import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  isTurnkeepError,
  type ModelMessage,
  user,
} from "@turnkeep/core";

/** What a process that takes turns is told, as JSON in its first argument. */
export interface TurnerTask {
  readonly url: string;
  readonly memoryId: string;
  readonly client: string;
  /** How many turns it takes, one after the other; 0: one, which it holds until that is lost or told to stop. */
  readonly turns: number;
  readonly leaseMs: number;
  /** Where all processes write what they do, a line each. */
  readonly log: string;
  /** A file that is there once the process has stood still, and goes on. */
  readonly resumed: string;
}

/** Takes turns, and ends. Its exit status is 1 if one failed. */
export async function runTurner(openStore: (url: string) => Promise<ChatMemoryStore>): Promise<void> {
  const task = JSON.parse(process.argv[2] ?? "") as TurnerTask;
  const { url, memoryId, client, turns, leaseMs, log, resumed } = task;
  const store = await openStore(url);
  const memory = createChatMemory({ id: memoryId, store, timeoutMs: 600_000 });
  const say = (what: string): void => appendFileSync(log, `${client} ${what}\n`);
  for (let turn = 1; turn <= Math.max(turns, 1); turn++) {
    await memory.turn(
      async ({ signal }) => {
        say("begins");
        await memory.add(user(`${client} asks`));
        if (turns === 0) await hold(memory, signal, resumed, say);
        await memory.add(assistant(`${client} answers`)).catch((error) => say(`writes: ${codeOf(error)}`));
        say("ends");
      },
      { leaseMs },
    );
  }
  await store.close();
}

const codeOf = (error: unknown): string => (isTurnkeepError(error) ? error.code : String(error));

/** Waits until the turn's signal fires. Where the process has stood still, the first thing that it then does is to write. */
async function hold(
  memory: ChatMemory<ModelMessage>,
  signal: AbortSignal,
  resumed: string,
  say: (what: string) => void,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(20);
    if (!existsSync(resumed)) continue;
    await memory.add(user("late")).catch((error) => say(`writes: ${codeOf(error)}`));
  }
  say(`is told: ${codeOf(signal.reason)}`);
}
