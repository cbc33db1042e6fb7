import { type ModelMessage, modelMessageFormat } from "@turnkeep/core";
import { textCounter, tokenCounter } from "@turnkeep/tokens";
import type { Benchmark, Findings, Target } from "../benchmark.ts";
import { endlessConversation } from "../corpus.ts";
import { callsOfTurn, mean, median, quantile } from "../measure.ts";
import type { Cell, Table } from "../report/table.ts";
import { byHand } from "../window/by-hand.ts";
import { floor, others, ours, withFreeCounter } from "../window/contenders.ts";
import { fullWindows } from "../window/full-windows.ts";
import { Lane } from "../window/lane.ts";
import { partsOf } from "../window/parts.ts";
import { peerContenders, peers } from "../window/peers.ts";

const maxTokens = 4_000;
/** The time that one lane may take altogether, in ms, and the longest step that is measured. */
const limits = {
  quick: { rounds: 1_200, lane: 1_000, step: 2_000 },
  full: { rounds: 4_000, lane: 10_000, step: 10_000 },
};
const fewest = 3;

/** Pairs of ours and the same promises kept by hand, with how many times as long ours may take, and once took. */
const pairs = [
  { ours, byHand, atMost: 1.75, before: "2.4–2.6" },
  { ours: withFreeCounter(ours), byHand: withFreeCounter(byHand), atMost: 2, before: "3.6–4.0" },
];
/** How the fastest peer works unless it is told otherwise. */
const defaultMode = "mastra, best-fit";
const notPeers = [...pairs.flatMap((pair) => [pair.ours, pair.byHand]), ...others, floor];

/**
 * Adds one message to a conversation and reads what fits into 4,000 tokens. All contenders and lengths take turns of a few
 * messages, each time another one first; the median of a lane's steps is shown.
 */
export const window: Benchmark = {
  name: "window",
  about: "adding a message and reading a view of 4,000 tokens, by the length of the conversation",
  async run({ quick, say }) {
    const { rounds, lane: budget, step: longest } = limits[quick ? "quick" : "full"];
    const lengths = quick ? [100, 1_000, 10_000] : [100, 1_000, 10_000, 100_000];
    const counter = await tokenCounter("o200k_base");
    const countText = await textCounter("o200k_base");
    const count = (message: ModelMessage): number => counter.count(message, modelMessageFormat);
    const { messages, following } = corpusOf(lengths, rounds);
    const counts = messages.map(count);
    const lanes: Lane[] = [];
    for (const contender of [...notPeers, ...(await peerContenders())]) {
      let before = 0;
      let growth = 10;
      for (const length of lengths) {
        if (before * growth > longest) continue;
        say(`${contender.name}, ${length} messages`);
        const end = turnAt(messages, length);
        const shared = { maxTokens, count, countText };
        const lane = new Lane(contender, {
          messages: messages.slice(0, end),
          counts: counts.slice(0, end),
          ...shared,
        });
        await lane.open();
        const took = await warmUp(lane, following, budget);
        if (took > longest) continue;
        lane.every = Math.max(1, Math.ceil(rounds / Math.max(fewest, budget / took)));
        // What grew hundredfold will do so again.
        if (before > 0) growth = took / before;
        before = took;
        lanes.push(lane);
      }
    }
    say(`${rounds} messages`);
    for (let from = 0, turns = 0; from < rounds; from += callsOfTurn, turns++) {
      for (let turn = 0; turn < lanes.length; turn++) {
        const lane = lanes[(turns + turn) % lanes.length] as Lane;
        for (const [index, message] of following.slice(from, from + callsOfTurn).entries()) {
          if ((from + index) % lane.every === 0) lane.times.push(await lane.step(message));
        }
      }
    }
    const parts = await partsOf({ messages, counts, maxTokens, count, countText }, following);
    const full = await fullWindows(quick ? [20, 200, 2_000] : [20, 200, 2_000, 20_000]);
    return {
      ...findingsOf(lanes, [parts, full]),
      versions: Object.assign({}, ...peers.map((peer) => peer.versions())),
    };
  },
};

/** A conversation of the greatest length, up to the end of a turn, and what is said after it. */
function corpusOf(
  lengths: readonly number[],
  rounds: number,
): { readonly messages: ModelMessage[]; readonly following: ModelMessage[] } {
  const corpus = endlessConversation();
  const all = Array.from({ length: Math.max(...lengths) + rounds + 100 }, () => corpus.next().value);
  const end = turnAt(all, Math.max(...lengths));
  return { messages: all.slice(0, end), following: all.slice(end, end + rounds) };
}

/** Where the first turn begins behind so many messages, so that no step is cut in two. */
function turnAt(messages: readonly ModelMessage[], length: number): number {
  const turn = messages.findIndex(({ role }, index) => index >= length && role === "user");
  return turn < 0 ? messages.length : turn;
}

/** A lane's time for a step, in ms, once it runs as fast as it will, or has had its time. */
async function warmUp(lane: Lane, messages: readonly ModelMessage[], budget: number): Promise<number> {
  const times: number[] = [];
  for (const message of messages.slice(0, 300)) {
    times.push(await lane.step(message));
    if (times.reduce((sum, time) => sum + time, 0) > budget / 5) break;
  }
  await lane.open();
  return median(times.slice(-20));
}

function findingsOf(lanes: readonly Lane[], more: readonly Table[]): Findings {
  const names = [...new Set(lanes.map(({ contender }) => contender.name))];
  const lengths = [...new Set(lanes.map(({ length }) => length))].sort((a, b) => a - b);
  const laneOf = (name: string, length: number): Lane | undefined =>
    lanes.find((lane) => lane.contender.name === name && lane.length === length);
  const cells = (value: (lane: Lane) => number): Cell[][] =>
    names.map((name) => [
      name,
      ...lengths.map((length) => {
        const lane = laneOf(name, length);
        return lane === undefined ? null : value(lane);
      }),
    ]);
  const columns = ["contender", ...lengths.map((length) => `${length.toLocaleString("en-US")} messages`)];
  const timeOf = (name: string, length: number): number => median(laneOf(name, length)?.times ?? []);
  const [first = 0] = lengths;
  const last = lengths.at(-1) ?? 0;
  const many = lengths.find((length) => length >= 10_000) ?? last;
  const peerTimes = names
    .filter((name) => !notPeers.some((contender) => contender.name === name))
    .flatMap((name) => (laneOf(name, many) === undefined ? [] : [timeOf(name, many)]));
  const targets: Target[] = [
    {
      what: `ours at ${last.toLocaleString("en-US")} messages, times ours at ${first}`,
      measured: timeOf(ours.name, last) / timeOf(ours.name, first),
      atMost: 1.2,
      before: "0.67",
      decides: "turn",
    },
    ...pairs.flatMap((pair) =>
      lengths.map(
        (length): Target => ({
          what: `${pair.ours.name}, at ${length.toLocaleString("en-US")} messages, times ${pair.byHand.name}`,
          measured: timeOf(pair.ours.name, length) / timeOf(pair.byHand.name, length),
          atMost: pair.atMost,
          before: pair.before,
          decides: "turn",
        }),
      ),
    ),
    {
      what: `the best peer at ${many.toLocaleString("en-US")} messages, times ours`,
      measured: Math.min(...peerTimes) / timeOf(ours.name, many),
      atLeast: 50,
      before: "45",
      decides: "turn",
    },
    {
      what: `${defaultMode} at ${many.toLocaleString("en-US")} messages, times ours`,
      measured:
        laneOf(defaultMode, many) === undefined
          ? Number.POSITIVE_INFINITY
          : timeOf(defaultMode, many) / timeOf(ours.name, many),
      atLeast: 2_000,
      before: "3,000",
      decides: "turn",
    },
  ];
  return {
    tables: [
      {
        title: "One message added and the view read, ms, median",
        columns,
        rows: cells(({ times }) => median(times)),
      },
      ...more,
    ],
    details: [
      {
        title: "One message added and the view read, ms, 99th percentile",
        columns,
        rows: cells(({ times }) => quantile(times, 0.99)),
      },
      { title: "The same, mean", columns, rows: cells(({ times }) => mean(times)) },
      { title: "How many times it was measured", columns, rows: cells(({ times }) => times.length) },
    ],
    plots: [
      {
        name: "steps",
        title: "One message added and a view of 4,000 tokens read",
        x: { title: "messages so far", scale: "log" },
        y: { title: "ms", scale: "log" },
        points: lanes.map(({ contender, length, times }) => ({
          x: length,
          y: median(times),
          line: contender.name,
        })),
      },
    ],
    targets,
  };
}
