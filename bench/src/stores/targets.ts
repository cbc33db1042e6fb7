import type { Target } from "../benchmark.ts";
import { median } from "../measure.ts";
import type { Line } from "./by-size.ts";
import type { Measured } from "./measured.ts";
import { type Operation, operations } from "./operations.ts";

/** What a target was before it was worked on, and whose decision it belongs to. */
function was(before: string, decides: NonNullable<Target["decides"]>): Pick<Target, "before" | "decides"> {
  return { before, decides };
}

/** What an append took beside one bare insert, before there was a conditional one to compare it with. */
const appendBefore: Readonly<Record<string, string>> = {
  MongoDB: "1.39 of a bare one",
  "DynamoDB Local": "1.53 of a bare one",
};

/** What the project holds itself to in each database; medians over the sizes, where no size is named. */
export function targetsFor(measured: Measured): Target[] {
  const { name, lines, inTurns, unsynced } = measured;
  const ours = lines.filter(({ what }) => what.kind === "ours");
  const ofTokens = ours.filter(({ window }) => "tokens" in window);
  const ofMessages = ours.filter(({ window }) => "messages" in window);
  const beside = ({ size, window }: Line, kind: "floor" | "hand" | "peer"): Line[] =>
    lines.filter((line) => line.size === size && line.window === window && line.what.kind === kind);
  const against = (kind: "floor" | "hand", of: readonly Line[], figure: (line: Line) => number): number =>
    median(of.flatMap((line) => beside(line, kind).map((other) => figure(line) / figure(other))));
  // Our append is held to the same promises by hand, where there are any; beside the bare floor it is only shown.
  const isByHand = lines.some(({ what }) => what.kind === "hand");
  // Where clients may ask not to wait for the disk too, it is held to that there.
  const hand = unsynced.find(({ what }) => what.kind === "hand");
  const turn = hand ? { atMost: 1.35, ...was("1.4–1.7", "turn") } : {};
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
  const oneConditionalWrite: Target = {
    what: `${name}: append, × one conditional write by hand`,
    measured: against("hand", ofTokens, (line) => line.median.append),
    atMost: 1.35,
    ...was(appendBefore[name] ?? "not compared", "turn"),
  };

  return [
    {
      what: `${name}: append, × one bare insert`,
      measured: against("floor", ofTokens, (line) => line.median.append),
    },
    {
      what: `${name}: append by the store alone, × one bare insert`,
      measured: alone.median.append / floor.median.append,
    },
    {
      what: `${name}: append with evictions, × one bare insert`,
      measured: against("floor", ofTokens, (line) => line.meanAppend),
    },
    {
      what: `${name}: append + read of the last 20, × floor`,
      measured: against("floor", ofMessages, (line) => line.median["append + read"]),
      ...turn,
    },
    {
      what: `${name}: append + read of 4,000 tokens, × floor`,
      measured: against("floor", ofTokens, (line) => line.median["append + read"]),
      ...turn,
    },
    ...(hand !== undefined ? besideHand(measured, hand) : isByHand ? [oneConditionalWrite] : []),
    ...roundTrips(measured),
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
      // A peer's append has neither a version nor an eviction, so ours is only shown beside it.
      ...(operation === "append" ? {} : { atLeast: 1 }),
    })),
  ];
}

/** How often a call of ours waits for the network, at the size where that is most; none where there is no network. */
function roundTrips({ name, traffic }: Measured): Target[] {
  const ours = traffic.filter(({ kind }) => kind === "ours");
  if (ours.length === 0) return [];
  return (["append", "unchanged", "read"] as const).map((operation) => ({
    what: `${name}: ${operation === "unchanged" ? "unchanged read" : operation}, round trips`,
    measured: Math.max(...ours.map(({ of }) => of[operation].roundTrips)),
    atMost: 1,
    // There a read asks for the head, and then for rows.
    ...was(name === "DynamoDB Local" && operation === "read" ? "2" : "1", "turn"),
  }));
}

/** What the memory and the store take beside the same by hand, where the disk hides none of it, and of the process's own time. */
function besideHand({ name, unsynced, throughput, written }: Measured, hand: Line): Target[] {
  const [memory, alone] = unsynced.filter(({ what }) => what.kind === "ours") as [Line, Line];
  const cpuOf = (what: string): number => {
    const found = throughput.find((one) => one.name === what);
    if (found === undefined) throw new Error(`${name}: ${what} has served no crowd`);
    return found.cpu;
  };
  const cpu = cpuOf(memory.what.name);
  const stored = written.find((one) => one.name === memory.what.name);
  const bare = written.find((one) => one.name === "floor");
  return [
    {
      what: `${name}: append, × the same by hand, nobody waits for the disk`,
      measured: memory.median.append / hand.median.append,
      atMost: 2.2,
      ...was("3.2–3.4", "turn"),
    },
    {
      what: `${name}: append by the store alone, × the same by hand, nobody waits for the disk`,
      measured: alone.median.append / hand.median.append,
      atMost: 1.15,
      ...was("1.3", "turn"),
    },
    {
      what: `${name}: 64 conversations at once, CPU of the process, × floor`,
      measured: cpu / cpuOf("floor"),
      atMost: 1.6,
      ...was("1.95–2.3", "capacity"),
    },
    {
      what: `${name}: 64 conversations at once, CPU of the process, × the same by hand`,
      measured: cpu / cpuOf(hand.what.name),
    },
    ...(stored === undefined || bare === undefined
      ? []
      : [
          {
            what: `${name}: bytes a message, × floor`,
            measured: stored.disk / bare.disk,
            atMost: 1.5,
            ...was("1.41", "size"),
          },
          {
            what: `${name}: bytes of log a message, × floor`,
            measured: stored.log / bare.log,
            atMost: 1.7,
            ...was("1.66", "size"),
          },
        ]),
  ];
}
