import {
  assistant,
  type ChatMemory,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
} from "@turnkeep/core";
import { newMessages } from "../corpus.ts";
import { median } from "../measure.ts";
import type { Table } from "../report/table.ts";

const rounds = 200;
const calls = ["add", "put", "messages", "rewind"] as const;

/** What calls take in windows of different sizes that are full, in turns: each message that is added makes another leave. */
export async function fullWindows(sizes: readonly number[]): Promise<Table> {
  const windows: FullWindow[] = [];
  for (const size of sizes) windows.push(await FullWindow.of(size));
  for (let round = 0; round < rounds; round++) for (const window of windows) await window.time(round);
  return {
    title: "A full window, by how many messages it holds, ms, median",
    columns: ["messages", "adding one", "replacing it, as it streams", "reading the view", "rewinding by it"],
    rows: windows.map(({ size, times }) => [size, ...calls.map((call) => median(times[call]))]),
  };
}

class FullWindow {
  readonly size: number;
  readonly times: Record<(typeof calls)[number], number[]> = { add: [], put: [], messages: [], rewind: [] };
  readonly #memory: ChatMemory<ModelMessage>;
  readonly #next = newMessages(3);

  private constructor(size: number) {
    this.size = size;
    const window = { maxMessages: size };
    this.#memory = createChatMemory({ id: "conversation", store: inMemoryStore(), window });
  }

  static async of(size: number): Promise<FullWindow> {
    const full = new FullWindow(size);
    for (let said = 0; said <= size; said += 100) {
      await full.#memory.add(...Array.from({ length: 100 }, full.#next));
    }
    return full;
  }

  async time(round: number): Promise<void> {
    const memory = this.#memory;
    const id = `answer ${round}`;
    await this.#timed("add", () => memory.add(this.#next()));
    await memory.put(id, assistant("It"));
    await this.#timed("put", () => memory.put(id, assistant("It is")));
    await this.#timed("messages", () => memory.messages());
    await this.#timed("rewind", () => memory.rewind(id));
  }

  async #timed(call: keyof FullWindow["times"], run: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    await run();
    this.times[call].push(performance.now() - began);
  }
}
