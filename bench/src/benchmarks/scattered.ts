import type { ChatMemoryStore } from "@turnkeep/core";
import type { Benchmark } from "../benchmark.ts";
import { databases } from "../databases.ts";
import { median } from "../measure.ts";
import type { Cell } from "../report/table.ts";

/** How many messages are live that have none beside them. */
const counts = [1, 10, 100, 1_000];

const payload = JSON.stringify({ role: "user", content: "All human beings are born free and equal." });

/** What an append and a read take where the live messages stand apart, as pinned ones do in a long history. */
export const scattered: Benchmark = {
  name: "scattered",
  about: "an append and a read where live messages stand apart",
  parts: Object.keys(databases),
  async run({ quick, only, say }) {
    const rounds = quick ? 5 : 60;
    const appends: Cell[][] = counts.map((count) => [count]);
    const reads: Cell[][] = counts.map((count) => [count]);
    const chosen = Object.entries(databases).filter(([name]) => only.length === 0 || only.includes(name));
    for (const [name, start] of chosen) {
      say(name);
      const { store, stop } = await start();
      try {
        const memories = counts.map((count) => new Memory(store, `${count} apart`, count));
        for (const memory of memories) await memory.begin();
        // In turns, so that what disturbs one disturbs all; the first round warms up.
        for (let round = 0; round <= rounds; round++)
          for (const memory of memories) await memory.time(round > 0);
        for (const [index, memory] of memories.entries()) {
          appends[index]?.push(median(memory.appends));
          reads[index]?.push(median(memory.reads));
        }
      } finally {
        await stop();
      }
    }
    const columns = ["live messages apart", ...chosen.map(([name]) => name)];
    return {
      tables: [
        { title: "An append, ms, median", columns, rows: appends },
        { title: "A read, ms, median", columns, rows: reads },
      ],
    };
  },
};

/** A memory of which every second message is live. */
class Memory {
  readonly appends: number[] = [];
  readonly reads: number[] = [];
  readonly #store: ChatMemoryStore;
  readonly #id: string;
  readonly #count: number;
  #version: string | null = null;
  #nextSeq = 1;

  constructor(store: ChatMemoryStore, id: string, count: number) {
    this.#store = store;
    this.#id = id;
    this.#count = count;
  }

  begin(): Promise<void> {
    return this.#update(2 * this.#count, (seq) => seq % 2 === 0);
  }

  /** One message more, which leaves at once, so that as many stay live; then all that are live. */
  async time(isMeasured: boolean): Promise<void> {
    const began = performance.now();
    await this.#update(1, () => true);
    const appended = performance.now();
    const { messages } = await this.#store.getMessages(this.#id);
    const ended = performance.now();
    if (messages.length !== this.#count) throw new Error(`${messages.length} messages are live`);
    if (!isMeasured) return;
    this.appends.push(appended - began);
    this.reads.push(ended - appended);
  }

  async #update(count: number, leaves: (seq: number) => boolean): Promise<void> {
    const first = this.#nextSeq;
    const version = crypto.randomUUID();
    const seqs = Array.from({ length: count }, (_, index) => first + index);
    await this.#store.updateMessages(this.#id, {
      expected: this.#version,
      version,
      nextSeq: first + count,
      append: seqs.map((seq) => ({ id: `message ${seq}`, seq, createdAt: Date.now(), payload })),
      replace: [],
      move: seqs.filter(leaves).map((seq) => ({ seq, to: "evicted" })),
    });
    this.#version = version;
    this.#nextSeq = first + count;
  }
}
