import type { Target } from "../benchmark.ts";
import { median } from "../measure.ts";
import type { Line } from "./by-size.ts";
import type { Measured } from "./measured.ts";
import { type Operation, operations } from "./operations.ts";

/** What the project holds itself to in each database; medians over the sizes, where no size is named. */
export function targetsFor({ name, lines, inTurns }: Measured): Target[] {
  const ours = lines.filter(({ what }) => what.kind === "ours");
  const ofTokens = ours.filter(({ window }) => "tokens" in window);
  const ofMessages = ours.filter(({ window }) => "messages" in window);
  const beside = ({ size, window }: Line, kind: "floor" | "peer"): Line[] =>
    lines.filter((line) => line.size === size && line.window === window && line.what.kind === kind);
  const againstFloor = (of: readonly Line[], figure: (line: Line) => number): number =>
    median(of.flatMap((line) => beside(line, "floor").map((floor) => figure(line) / figure(floor))));
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
      atMost: 1.3,
    },
    {
      what: `${name}: append by the store alone, × one bare insert`,
      measured: alone.median.append / floor.median.append,
      atMost: 1.3,
    },
    {
      what: `${name}: append with evictions, × one bare insert`,
      measured: againstFloor(ofTokens, (line) => line.meanAppend),
      atMost: 1.5,
    },
    {
      what: `${name}: append + read of the last 20, × floor`,
      measured: againstFloor(ofMessages, (line) => line.median["append + read"]),
      atMost: 1.3,
    },
    {
      what: `${name}: append + read of 4,000 tokens, × floor`,
      measured: againstFloor(ofTokens, (line) => line.median["append + read"]),
      atMost: 1.3,
    },
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
