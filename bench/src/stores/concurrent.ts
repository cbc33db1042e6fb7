import type { ModelMessage } from "@turnkeep/core";
import { quantile } from "../measure.ts";
import type { Contender, Window } from "./contender.ts";

/** What one contender did with many conversations at once. */
export interface Throughput {
  /** Append and read together, as one. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU of this process for one of them, in milliseconds; the database's own is not in it. */
  readonly cpu: number;
}

export interface Crowd {
  readonly conversations: readonly string[];
  readonly window: Window;
  readonly rounds: number;
  /** How often each conversation appends and reads in a round, one after the other. */
  readonly turns: number;
  readonly next: () => ModelMessage;
}

/** All conversations append and read at once, one contender at a time, taking turns by rounds; the first warms up. */
export async function measureConcurrent(
  contenders: readonly Contender[],
  { conversations, window, rounds, turns, next }: Crowd,
): Promise<Throughput[]> {
  const runs = contenders.map((contender) => ({
    open: conversations.map((name) => contender.open(name, window)),
    times: [] as number[],
    tookMs: 0,
    cpuMs: 0,
  }));
  for (let round = 0; round <= rounds; round++) {
    for (let place = 0; place < runs.length; place++) {
      const run = runs[(place + round) % runs.length] as (typeof runs)[number];
      const times: number[] = [];
      const began = performance.now();
      const before = process.cpuUsage();
      await Promise.all(
        run.open.map(async (conversation) => {
          for (let turn = 0; turn < turns; turn++) {
            const start = performance.now();
            await conversation.append(next());
            await conversation.read();
            times.push(performance.now() - start);
          }
        }),
      );
      if (round === 0) continue;
      run.tookMs += performance.now() - began;
      const { user, system } = process.cpuUsage(before);
      run.cpuMs += (user + system) / 1_000;
      run.times.push(...times);
    }
  }
  return runs.map(({ times, tookMs, cpuMs }) => ({
    perSecond: (times.length / tookMs) * 1_000,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    cpu: cpuMs / times.length,
  }));
}
