import type { Cell, Table } from "../report/table.ts";
import type { Line } from "./by-size.ts";
import { delaysMs, showWindow, type Window, windows } from "./contender.ts";
import { counted } from "./count-traffic.ts";
import { billed } from "./count-units.ts";
import type { Measured } from "./measured.ts";
import { operations } from "./operations.ts";

const [lastMessages, tokens] = windows;
const [append, ...rest] = operations;
const timesOfOperations = [append, "append with evictions", ...rest];

/** The longest conversations, in all databases. */
export function atTheEnd(all: readonly Measured[]): Table {
  return {
    title: `The longest conversations, ${showWindow(tokens)}: medians, ms`,
    columns: ["database", "messages said", "what", ...timesOfOperations],
    rows: all.flatMap((measured) => {
      const size = longest(measured);
      return namesIn(measured).map((what): Cell[] => [
        ...[measured.name, size, what],
        ...times(lineOf(measured, tokens, size, what)),
      ]);
    }),
  };
}

/** Everybody where each makes one call alone before the next has its turn, in all databases. */
export function oneByOne(all: readonly Measured[]): Table {
  return {
    title: `One call each in turn, short conversations, ${showWindow(tokens)}: medians, ms`,
    columns: ["database", "what", ...timesOfOperations],
    rows: all.flatMap(({ name, alone }) =>
      alone.map((line): Cell[] => [name, line.what.name, ...times(line)]),
    ),
  };
}

/** How many conversations everybody serves, in all databases. */
export function together(all: readonly Measured[]): Table {
  return {
    title: `64 conversations at once, append + read of ${showWindow(lastMessages)}`,
    columns: ["database", "what", "a second", "p50, ms", "p99, ms", "CPU of the process, ms"],
    rows: all.flatMap(({ name: database, throughput }) =>
      throughput.map(({ name, perSecond, p50, p99, cpu }) => [database, name, perSecond, p50, p99, cpu]),
    ),
  };
}

/** What a network costs ours, the floors and those by hand, in all databases. */
export function overNetworks(all: readonly Measured[]): Table {
  const asked = ["append", "unchanged", "read"] as const;
  return {
    title: `With ${delaysMs.join(", ")} ms of network, short conversations, ${showWindow(tokens)}: medians, ms`,
    columns: ["database", "network, as an echo takes it", "what", ...asked],
    rows: all.flatMap(({ name, overNetworks: networks }) =>
      networks.flatMap(({ echoMs, lines }) =>
        lines.map(({ what, median }): Cell[] => [
          ...[name, echoMs, what.name],
          ...asked.map((operation) => median[operation]),
        ]),
      ),
    ),
  };
}

/** One figure of each: a message is added, and the window read, in the longest conversations. */
export function headlineOf(all: readonly Measured[]): Table {
  const asked = [
    ["turnkeep", /^turnkeep$/],
    ["by hand", /^floor$/],
    ["LangChain", /^@langchain/],
    ["Mastra", /^@mastra/],
  ] as const;
  const shown = asked.filter(([, who]) =>
    all.some((measured) => namesIn(measured).some((one) => who.test(one))),
  );
  return {
    title: `One message more, then the newest ${showWindow(tokens)}: ms`,
    columns: ["", "messages said", ...shown.map(([name]) => name)],
    rows: all.map((measured) => {
      const size = longest(measured);
      const figureOf = (who: RegExp): Cell => {
        const what = namesIn(measured).find((one) => who.test(one));
        return (
          (what === undefined ? undefined : lineOf(measured, tokens, size, what))?.median["append + read"] ??
          null
        );
      };
      return [measured.name, size, ...shown.map(([, who]) => figureOf(who))];
    }),
  };
}

/** All that was measured of one database. */
export function detailsOf(measured: Measured): Table[] {
  const { name, lines, traffic, units, inTurns, unsynced, written, shortfalls } = measured;
  const sizes = new Set(lines.map(({ size }) => size));
  return [
    ...windows.map((window) => ({
      title: `${name}, ${showWindow(window)}: medians, ms`,
      columns: ["messages said", "what", ...timesOfOperations],
      rows: [...sizes].flatMap((size) =>
        namesIn(measured).map((what): Cell[] => [size, what, ...times(lineOf(measured, window, size, what))]),
      ),
    })),
    {
      title: `${name}, ${showWindow(tokens)}, short and long conversations in turns: medians, ms`,
      columns: ["messages said", "what", ...timesOfOperations],
      rows: inTurns.map((line): Cell[] => [line.size, line.what.name, ...times(line)]),
    },
    {
      title: `${name}, ${showWindow(tokens)}, nobody waits for the disk: medians, ms`,
      columns: ["messages said", "what", ...timesOfOperations],
      rows: unsynced.map((line): Cell[] => [line.size, line.what.name, ...times(line)]),
    },
    {
      title: `${name}: what a message takes, bytes`,
      columns: ["what", "in the log", "in tables and indexes"],
      rows: written.map(({ name: what, log, disk }) => [what, log, disk]),
    },
    {
      title: `${name}, ${showWindow(lastMessages)}: round trips, and bytes both ways`,
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
      title: `${name}, ${showWindow(lastMessages)}: capacity units, reads + writes, means of 20`,
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

function times(line: Line | undefined): Cell[] {
  const others = rest.map((operation) => line?.median[operation] ?? null);
  return [line?.median[append] ?? null, line?.meanAppend ?? null, ...others];
}

function lineOf({ lines }: Measured, window: Window, size: number, what: string): Line | undefined {
  return lines.find((line) => line.window === window && line.size === size && line.what.name === what);
}

function namesIn({ lines }: Measured): string[] {
  return [...new Set(lines.map(({ what }) => what.name))];
}

function longest({ lines }: Measured): number {
  return Math.max(...lines.map(({ size }) => size));
}
