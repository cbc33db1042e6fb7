import { tokenCounter } from "@turnkeep/tokens";
import type { Benchmark } from "../benchmark.ts";
import { conversation, newMessages } from "../corpus.ts";
import type { Plot } from "../report/plot.ts";
import { bySize } from "../stores/by-size.ts";
import { measureConcurrent, type Throughput } from "../stores/concurrent.ts";
import { type Arena, inside, type StartArena, showWindow, windows } from "../stores/contender.ts";
import { startDynamoArena } from "../stores/dynamo.ts";
import type { Measured } from "../stores/measured.ts";
import { startMongoArena } from "../stores/mongo.ts";
import { startPostgresArena } from "../stores/postgres.ts";
import { startRedisArena } from "../stores/redis.ts";
import { startSqliteArena } from "../stores/sqlite.ts";
import { atTheEnd, detailsOf, headlineOf, oneByOne, overNetworks, together } from "../stores/tables.ts";
import { targetsFor } from "../stores/targets.ts";

/** Ours over each database server, beside its peers and a floor written by hand on the bare driver. */
export const stores: Benchmark = storesOver(
  "stores",
  "what an append and a read cost in each database server",
  {
    postgres: startPostgresArena,
    redis: startRedisArena,
    mongo: startMongoArena,
    dynamo: startDynamoArena,
  },
);

/** The same where the database is in the process. */
export const sqlite: Benchmark = storesOver("sqlite", "what they cost in a file of SQLite's", {
  sqlite: startSqliteArena,
});

/** The arenas by the names that `--only` takes. */
function storesOver(name: string, about: string, arenas: Readonly<Record<string, StartArena>>): Benchmark {
  return {
    name,
    about,
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
        tables: [atTheEnd(all), oneByOne(all), together(all), overNetworks(all)].filter(
          ({ rows }) => rows.length > 0,
        ),
        details: all.flatMap(detailsOf),
        headline: headlineOf(all),
        plots: all.map(plotOf),
        targets: all.flatMap(targetsFor),
        versions: Object.assign({}, ...all.map(({ versions }) => versions)) as Record<string, string>,
      };
    },
  };
}

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
