import type { Target } from "../benchmark.ts";
import { median } from "../measure.ts";
import type { Line } from "./by-size.ts";
import type { Written } from "./count-written.ts";
import type { Measured } from "./measured.ts";
import { type Operation, operations } from "./operations.ts";

/** What the project holds itself to in each database; medians over the sizes, where no size is named. */
export function targetsFor(measured: Measured): Target[] {
  const { name, lines, inTurns } = measured;
  const ours = lines.filter(({ what }) => what.kind === "ours");
  const ofTokens = ours.filter(({ window }) => "tokens" in window);
  const ofMessages = ours.filter(({ window }) => "messages" in window);
  const beside = ({ size, window }: Line, kind: "floor" | "peer"): Line[] =>
    lines.filter((line) => line.size === size && line.window === window && line.what.kind === kind);
  const againstFloor = (of: readonly Line[], figure: (line: Line) => number): number =>
    median(of.flatMap((line) => beside(line, "floor").map((floor) => figure(line) / figure(floor))));
  // Where the same promises were written by hand, our append is held to that, and beside the bare floor it is only shown.
  const isByHand = lines.some(({ what }) => what.kind === "hand");
  const atMost = (bound: number): Pick<Target, "atMost"> => (isByHand ? {} : { atMost: bound });
  const [short, long, alone] = inTurns.filter(({ what }) => what.kind === "ours") as [Line, Line, Line];
  const [floor] = inTurns.filter(({ what }) => what.kind === "floor") as [Line];
  /** The fastest peer against ours, at the size and window where that is least. */
  const lead = (operation: Operation): number =>
    Math.min(
      ...ours
        .filter(({ size }) => size >= 1_000)
        .flatMap((line) =>
          beside(line, "peer").map((peer) => peer.median[operation] / line.median[operation]),
        ),
    );
  const grown = `at ${long.size.toLocaleString("en-US")} messages, × at ${short.size}, in turns`;

  return [
    {
      what: `${name}: append, × one bare insert`,
      measured: againstFloor(ofTokens, (line) => line.median.append),
      ...atMost(1.3),
    },
    {
      what: `${name}: append by the store alone, × one bare insert`,
      measured: alone.median.append / floor.median.append,
      ...atMost(1.3),
    },
    {
      what: `${name}: append with evictions, × one bare insert`,
      measured: againstFloor(ofTokens, (line) => line.meanAppend),
      ...atMost(1.5),
    },
    {
      what: `${name}: append + read of the last 20, × floor`,
      measured: againstFloor(ofMessages, (line) => line.median["append + read"]),
      atMost: isByHand ? 1.35 : 1.3,
    },
    {
      what: `${name}: append + read of 4,000 tokens, × floor`,
      measured: againstFloor(ofTokens, (line) => line.median["append + read"]),
      atMost: isByHand ? 1.35 : 1.3,
    },
    ...(isByHand ? besideHand(measured) : []),
    {
      what: `${name}: append ${grown}`,
      measured: long.median.append / short.median.append,
      atMost: 1.2,
    },
    {
      what: `${name}: append + read ${grown}`,
      measured: long.median["append + read"] / short.median["append + read"],
      atMost: 1.2,
    },
    ...operations.map((operation) => ({
      what: `${name}: ${operation}, the fastest peer from 1,000 on, × ours`,
      measured: lead(operation),
      // A peer that only inserts, without version or eviction, may be level.
      atLeast: operation === "append" ? 0.9 : 1,
    })),
  ];
}

/** What the memory and the store take beside the same by hand, where the disk hides none of it, and of the process's own time. */
function besideHand({ name, unsynced, throughput, written }: Measured): Target[] {
  const appendOf = (isIt: (line: Line) => boolean): number =>
    unsynced.find(isIt)?.median.append ?? Number.NaN;
  const byHand = appendOf(({ what }) => what.kind === "hand");
  const [memory, alone] = unsynced.filter(({ what }) => what.kind === "ours");
  const cpuOf = (what: string): number => throughput.find((one) => one.name === what)?.cpu ?? Number.NaN;
  const bytesOf = (what: string): Written => written.find((one) => one.name === what) as Written;
  const [stored, bare] = [bytesOf(memory?.what.name ?? ""), bytesOf("floor")];
  const hand = unsynced.find(({ what }) => what.kind === "hand")?.what.name ?? "";
  return [
    {
      what: `${name}: append, × the same by hand, nobody waits for the disk`,
      measured: (memory?.median.append ?? Number.NaN) / byHand,
      atMost: 2.2,
    },
    {
      what: `${name}: append by the store alone, × the same by hand, nobody waits for the disk`,
      measured: (alone?.median.append ?? Number.NaN) / byHand,
      atMost: 1.15,
    },
    {
      what: `${name}: 64 conversations at once, CPU of the process, × floor`,
      measured: cpuOf(memory?.what.name ?? "") / cpuOf("floor"),
      atMost: 1.6,
    },
    {
      what: `${name}: 64 conversations at once, CPU of the process, × the same by hand`,
      measured: cpuOf(memory?.what.name ?? "") / cpuOf(hand),
    },
    { what: `${name}: bytes a message, × floor`, measured: stored.disk / bare.disk, atMost: 1.5 },
    { what: `${name}: bytes of log a message, × floor`, measured: stored.log / bare.log, atMost: 1.7 },
  ];
}
