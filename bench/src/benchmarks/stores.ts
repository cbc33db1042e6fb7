import { tokenCounter } from "@turnkeep/tokens";
import type { Benchmark } from "../benchmark.ts";
import { conversation, newMessages } from "../corpus.ts";
import type { Plot } from "../report/plot.ts";
import type { Cell, Table } from "../report/table.ts";
import { bySize, type FiguresBySize } from "../stores/by-size.ts";
import { measureConcurrent, type Throughput } from "../stores/concurrent.ts";
import {
  type Arena,
  inside,
  type StartArena,
  showWindow,
  type Window,
  windows,
} from "../stores/contender.ts";
import { counted } from "../stores/count-traffic.ts";
import { billed } from "../stores/count-units.ts";
import { startDynamoArena } from "../stores/dynamo.ts";
import { startMongoArena } from "../stores/mongo.ts";
import { operations } from "../stores/operations.ts";
import { startPostgresArena } from "../stores/postgres.ts";
import { startRedisArena } from "../stores/redis.ts";
import { targetsFor } from "../stores/targets.ts";

/** By the name that the command line takes. */
const arenas: Readonly<Record<string, StartArena>> = {
  postgres: startPostgresArena,
  redis: startRedisArena,
  mongo: startMongoArena,
  dynamo: startDynamoArena,
};

/** What was measured of one database. */
export interface Measured extends FiguresBySize {
  readonly name: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly throughput: readonly (Throughput & { readonly name: string })[];
}

/** Ours over each database, beside its peers and a floor written by hand on the bare driver. */
export const stores: Benchmark = {
  name: "stores",
  about: "what an append and a read cost in each database",
  parts: Object.keys(arenas),
  async run({ quick, only, say }) {
    const counter = await tokenCounter("o200k_base");
    const all: Measured[] = [];
    for (const [part, start] of Object.entries(arenas)) {
      if (only.length > 0 && !only.includes(part)) continue;
      const throughput = await inArena(
        () => start(counter),
        (arena) => concurrent(arena, quick, say),
      );
      const rest = await inArena(
        () => start(counter),
        async (arena) => ({
          name: arena.name,
          versions: arena.versions,
          ...(await bySize(arena, quick, say)),
        }),
      );
      all.push({ ...rest, throughput });
    }
    return {
      tables: all.flatMap(tablesOf),
      plots: all.map(plotOf),
      targets: all.flatMap(targetsFor),
      versions: Object.assign({}, ...all.map(({ versions }) => versions)) as Record<string, string>,
    };
  },
};

async function inArena<T>(start: () => Promise<Arena>, use: (arena: Arena) => Promise<T>): Promise<T> {
  const arena = await start();
  try {
    return await use(arena);
  } finally {
    await arena.stop();
  }
}

async function concurrent(
  arena: Arena,
  quick: boolean,
  say: (text: string) => void,
): Promise<Measured["throughput"]> {
  const [window] = windows;
  const conversations = Array.from({ length: 64 }, (_, index) => `busy-${index}`);
  return inside(arena, "direct", async (contenders) => {
    say(`${arena.name}: 64 conversations at once`);
    for (const [index, name] of conversations.entries()) {
      const messages = conversation(100, index + 1);
      for (const contender of contenders) await contender.fill(name, messages, window);
    }
    await arena.settle?.();
    const found = await measureConcurrent(contenders, {
      ...{ conversations, window, next: newMessages(2) },
      ...(quick ? { rounds: 1, turns: 2 } : { rounds: 6, turns: 5 }),
    });
    return contenders.map(({ name }, index) => ({ name, ...(found[index] as Throughput) }));
  });
}

function tablesOf({ name, lines, traffic, throughput, units, shortfalls }: Measured): Table[] {
  const [append, ...rest] = operations;
  const lastMessages = showWindow(windows[0]);
  const sizes = new Set(lines.map(({ size }) => size));
  const names = new Set(lines.map(({ what }) => what.name));
  const timesIn = (window: Window): Cell[][] =>
    [...sizes].flatMap((size) =>
      [...names].map((name): Cell[] => {
        const line = lines.find(
          (one) => one.window === window && one.size === size && one.what.name === name,
        );
        const others = rest.map((operation) => line?.median[operation] ?? null);
        return [size, name, line?.median[append] ?? null, line?.meanAppend ?? null, ...others];
      }),
    );
  return [
    ...windows.map((window) => ({
      title: `${name}, ${showWindow(window)}: medians, ms`,
      columns: ["messages said", "what", append, "append with evictions", ...rest],
      rows: timesIn(window),
    })),
    {
      title: `${name}, ${lastMessages}: round trips, and bytes both ways`,
      columns: ["messages said", "what", ...counted.flatMap((operation) => [operation, "bytes"])],
      rows: traffic.map(({ size, name, of }) => [
        size,
        name,
        ...counted.flatMap((operation) => {
          const { roundTrips, bytesSent, bytesReceived } = of[operation];
          return [roundTrips, bytesSent + bytesReceived];
        }),
      ]),
    },
    {
      title: `${name}: 64 conversations at once, append + read of ${lastMessages}`,
      columns: ["what", "a second", "p50, ms", "p99, ms"],
      rows: throughput.map(({ name, perSecond, p50, p99 }) => [name, perSecond, p50, p99]),
    },
    {
      title: `${name}, ${lastMessages}: capacity units, reads + writes, means of 20`,
      columns: [
        "messages said",
        "what",
        ...billed.flatMap((operation) => [`${operation}, R`, `${operation}, W`]),
      ],
      rows: units.map(({ size, name, of }) => [
        size,
        name,
        ...billed.flatMap((operation) => [of[operation].read, of[operation].write]),
      ]),
    },
    {
      title: `${name}: where a peer could not go on`,
      columns: ["what", "messages said", "why"],
      rows: shortfalls.map(({ name, size, why }) => [name, size, why]),
    },
  ].filter(({ rows }) => rows.length > 0);
}

function plotOf({ name, lines }: Measured): Plot {
  return {
    name: name.toLowerCase().replaceAll(" ", "-"),
    title: `${name}: append a message and read ${showWindow(windows[0])}`,
    x: { title: "messages said", scale: "log" },
    y: { title: "ms", scale: "log" },
    points: lines
      .filter(({ window }) => window === windows[0])
      .map(({ size, what, median }) => ({ x: size, y: median["append + read"], line: what.name })),
  };
}
