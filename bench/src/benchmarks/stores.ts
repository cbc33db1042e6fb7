import { tokenCounter } from "@turnkeep/tokens";
import type { Benchmark } from "../benchmark.ts";
import { conversation, endlessConversation } from "../corpus.ts";
import type { Plot } from "../report/plot.ts";
import type { Cell, Table } from "../report/table.ts";
import { measureConcurrent, type Throughput } from "../stores/concurrent.ts";
import type { Arena, Contender, StartArena, Window } from "../stores/contender.ts";
import { counted, countTraffic, type OperationTraffic } from "../stores/count-traffic.ts";
import { billed, countUnits, type OperationUnits } from "../stores/count-units.ts";
import { startDynamoArena } from "../stores/dynamo.ts";
import { startMongoArena } from "../stores/mongo.ts";
import { measure, operations, type Times } from "../stores/operations.ts";
import { startPostgresArena } from "../stores/postgres.ts";
import { startRedisArena } from "../stores/redis.ts";
import { fillAndCheck, type Shortfall, Shortfalls } from "../stores/shortfalls.ts";
import { targetsFor } from "../stores/targets.ts";

/** By the name that the command line takes. */
const arenas: Readonly<Record<string, StartArena>> = {
  postgres: startPostgresArena,
  redis: startRedisArena,
  mongo: startMongoArena,
  dynamo: startDynamoArena,
};

const windows: readonly Window[] = [{ messages: 20 }, { tokens: 4_000 }];

/** Of which traffic is counted too. */
const countedSizes = [10, 1_000, 100_000];

/** One line of the figures. */
export interface Line extends Times {
  readonly window: Window;
  readonly size: number;
  readonly what: Pick<Contender, "name" | "kind">;
}

/** What was measured of one database. */
export interface Measured {
  readonly name: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly lines: readonly Line[];
  readonly traffic: readonly {
    readonly size: number;
    readonly name: string;
    readonly of: OperationTraffic;
  }[];
  readonly units: readonly { readonly size: number; readonly name: string; readonly of: OperationUnits }[];
  readonly shortfalls: readonly Shortfall[];
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
        (arena) => bySize(arena, quick, say),
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

/** Clients that are closed when they have been used. */
async function inside<T>(
  arena: Arena,
  way: "direct" | "counted",
  use: (contenders: readonly Contender[]) => Promise<T>,
): Promise<T> {
  const contenders = await arena.enter(way);
  try {
    return await use(contenders);
  } finally {
    for (const contender of contenders) await contender.close();
  }
}

async function concurrent(
  arena: Arena,
  quick: boolean,
  say: (text: string) => void,
): Promise<Measured["throughput"]> {
  const [window] = windows as [Window];
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

async function bySize(
  arena: Arena,
  quick: boolean,
  say: (text: string) => void,
): Promise<Omit<Measured, "throughput">> {
  const { largest, budgetMs } = arena.bounds ?? { largest: 100_000, budgetMs: 2_000 };
  const sizes = (quick ? [10, 1_000] : [10, 100, 1_000, 10_000, 100_000]).filter((size) => size <= largest);
  const rounds = quick ? 10 : 100;
  const next = newMessages(3);
  const said = conversation(sizes.at(-1) ?? 0);
  const lines: Line[] = [];
  const traffic: Measured["traffic"][number][] = [];
  const units: Measured["units"][number][] = [];
  const shortfalls = new Shortfalls();
  return inside(arena, "direct", (contenders) =>
    inside(arena, "direct", async (writers) => {
      for (const size of sizes) {
        const conversations = Array.from(
          { length: Math.max(1, Math.ceil((rounds * 3) / size)) },
          (_, index) => `${size}-${index}`,
        );
        const attempt = <T>(contender: Contender, run: () => Promise<T>): Promise<T | undefined> =>
          shortfalls.attempt(contender, size, run);
        const isIn = (contender: Contender): boolean => !shortfalls.has(contender);
        for (const window of windows) {
          say(`${arena.name}: ${size.toLocaleString("en-US")} messages, ${showWindow(window)}`);
          for (const contender of contenders) {
            for (const name of conversations) {
              if (!isIn(contender)) continue;
              await attempt(contender, () => fillAndCheck(contender, name, said.slice(0, size), window));
            }
          }
          await arena.settle?.();
          const request = { conversations, window, rounds, budgetMs, next, attempt, isIn };
          const times = await measure(contenders, writers, request);
          for (const [index, of] of times.entries()) {
            if (of !== undefined) lines.push({ window, size, what: contenders[index] as Contender, ...of });
          }
        }
        const [name = ""] = conversations;
        const [window] = windows as [Window];
        const { unitsOf } = arena;
        for (const [index, contender] of contenders.entries()) {
          if (unitsOf === undefined || !isIn(contender)) continue;
          const writer = writers[index] as Contender;
          const of = await attempt(contender, () => countUnits(unitsOf, contender, writer, name, window));
          if (of !== undefined) units.push({ size, name: contender.name, of });
        }
        if (!countedSizes.includes(size) && size !== sizes.at(-1)) continue;
        await inside(arena, "counted", async (all) => {
          for (const [index, contender] of all.entries()) {
            if (!isIn(contender)) continue;
            const writer = writers[index] as Contender;
            const of = await attempt(contender, () => countTraffic(arena, contender, writer, name, window));
            if (of !== undefined) traffic.push({ size, name: contender.name, of });
          }
        });
      }
      const { name, versions } = arena;
      return { name, versions, lines, traffic, units, shortfalls: shortfalls.all };
    }),
  );
}

/** Messages that no conversation holds yet; never a system message. */
function newMessages(seed: number) {
  const messages = endlessConversation(seed);
  messages.next();
  return () => messages.next().value;
}

function showWindow(window: Window): string {
  return "messages" in window
    ? `the last ${window.messages}`
    : `${window.tokens.toLocaleString("en-US")} tokens`;
}

function tablesOf({ name, lines, traffic, throughput, units, shortfalls }: Measured): Table[] {
  const [append, ...rest] = operations;
  const lastMessages = showWindow(windows[0] as Window);
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
    title: `${name}: append a message and read ${showWindow(windows[0] as Window)}`,
    x: { title: "messages said", scale: "log" },
    y: { title: "ms", scale: "log" },
    points: lines
      .filter(({ window }) => window === windows[0])
      .map(({ size, what, median }) => ({ x: size, y: median["append + read"], line: what.name })),
  };
}
