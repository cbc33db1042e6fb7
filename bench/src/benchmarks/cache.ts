import type { TokenCounter } from "@turnkeep/core";
import { tokenCounter } from "@turnkeep/tokens";
import type { Benchmark, Findings, Target } from "../benchmark.ts";
import { type Bill, billOf, useOf } from "../cache/bill.ts";
import { comparison } from "../cache/compare.ts";
import { type Dialogue, generated, read } from "../cache/dialogue.ts";
import { defaultCase, type WindowCase, windowCases } from "../cache/policies.ts";
import { cards, labelOf } from "../cache/prices.ts";
import { play, type Trace } from "../cache/trace.ts";
import type { Plot } from "../report/plot.ts";
import { type Cell, shown, type Table } from "../report/table.ts";

const limits = [4_000, 8_000, 32_000];
/** The limit that is shown first and in the plots, and that a long system message is tried with. */
const shownLimit = 8_000;
const longSystem = 2_000;

interface Row {
  readonly window: WindowCase;
  readonly use: number | null;
  readonly bills: readonly Bill[];
}

/**
 * What a provider's prompt cache serves of the prompts that windows show, and what they cost. No model is asked: the
 * prompts are those that memories show, and caches are simulated by their documented rules. The same in each run.
 */
export const cache: Benchmark = {
  name: "cache",
  about: "what a prompt cache serves of a window; --conversations FILE.jsonl: over your own",
  parts: limits.map(String),
  readsConversations: true,
  async run({ quick, only, say, conversations }) {
    const counter = await tokenCounter("o200k_base");
    const [count, length] = quick ? [1, 500] : [3, 2_000];
    // What is quick does not fill the largest window.
    const all = quick ? limits.slice(0, -1) : limits;
    const chosen = limits.filter((limit) => (only.length === 0 ? all : only.map(Number)).includes(limit));
    if (conversations !== undefined) {
      const { tables, details } = await findings(read(conversations, counter), chosen, counter, say);
      return { tables: [...tables, ...details] };
    }
    const found = await findings(generated(count, length, counter), chosen, counter, say);
    if (!chosen.includes(shownLimit)) return found;
    say(`a system message of ${longSystem} tokens`);
    const windows = windowCases.filter(({ line }) => line === "sliding" || line === "step");
    const rows = await measure(generated(count, length, counter, longSystem), windows, shownLimit, counter);
    const what = `Limit ${shown(shownLimit)}, a system message of ${shown(longSystem)} tokens`;
    return { ...found, details: [...found.details, ...tablesOf(what, rows)] };
  },
};

async function findings<M>(
  dialogues: readonly Dialogue<M>[],
  limits: readonly number[],
  counter: TokenCounter,
  say: (text: string) => void,
): Promise<Findings & Required<Pick<Findings, "details">>> {
  const tables: Table[] = [];
  const details: Table[] = [prices];
  const plots: Plot[] = [];
  const targets: Target[] = [];
  for (const limit of limits) {
    say(`${limit} tokens`);
    const rows = await measure(dialogues, windowCases, limit, counter);
    (limit === shownLimit ? tables : details).push(...tablesOf(`Limit ${shown(limit)}`, rows));
    targets.push(...targetsOf(limit, rows));
    if (limit === shownLimit) plots.push(...plotsOf(rows));
  }
  say("other policies");
  details.push(comparison(dialogues, limits, counter));
  return { tables, details, plots, targets };
}

async function measure<M>(
  dialogues: readonly Dialogue<M>[],
  windows: readonly WindowCase[],
  limit: number,
  counter: TokenCounter,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const window of windows) {
    const traces: Trace[] = [];
    for (const dialogue of dialogues) traces.push(await play(dialogue, window, limit, counter));
    const bills = cards.map((card) => billOf(traces, card, counter));
    rows.push({ window, use: useOf(traces, limit, counter), bills });
  }
  return rows;
}

function tablesOf(what: string, rows: readonly Row[]): Table[] {
  const columns = ["window", "in use, %", ...cards.map(labelOf)];
  const of = (figure: (bill: Bill) => Cell): Cell[][] =>
    rows.map(({ window, use, bills }) => [
      window.name,
      use === null ? null : use * 100,
      ...bills.map(figure),
    ]);
  return [
    {
      title: `${what}: prompt tokens served from the cache, %`,
      columns,
      rows: of(({ cached }) => cached * 100),
    },
    { title: `${what}: dollars for 1,000 requests`, columns, rows: of(({ dollars }) => dollars) },
  ];
}

function targetsOf(limit: number, rows: readonly Row[]): Target[] {
  const row = rows.find(({ window }) => window.name === defaultCase);
  if (row?.use == null) return [];
  const cached = Math.min(...row.bills.map((bill) => bill.cached)) * 100;
  const what = `${defaultCase}, limit ${shown(limit)}`;
  return [
    { what: `${what}: cached by the cache that serves least, %`, measured: cached, atLeast: 60 },
    { what: `${what}: in use, %`, measured: row.use * 100, atLeast: 80 },
  ];
}

function plotsOf(rows: readonly Row[]): Plot[] {
  const x = { title: "of the window in use, %", zero: false };
  const card = cards.findIndex(({ model }) => model.startsWith("Claude"));
  const points = (figure: (bill: Bill) => number): Plot["points"] =>
    rows.flatMap(({ window, use, bills }) =>
      use === null ? [] : [{ x: use * 100, y: figure(bills[card] as Bill), line: window.line }],
    );
  const what = `limit ${shown(shownLimit)}, ${labelOf(cards[card] as (typeof cards)[number])}`;
  return [
    {
      name: "share",
      title: `Served from the prompt cache: ${what}`,
      x,
      y: { title: "prompt tokens, %" },
      points: points(({ cached }) => cached * 100),
    },
    {
      name: "cost",
      title: `Cost: ${what}`,
      x,
      y: { title: "dollars for 1,000 requests" },
      points: points(({ dollars }) => dollars),
    },
  ];
}

const prices: Table = {
  title: "Prices, dollars for a million tokens",
  columns: ["model, lifetime", "input", "cached", "written", "output", "read on", "source"],
  rows: cards.map((card) => {
    const { input, cached, write, output } = card.prices;
    return [labelOf(card), input, cached, write, output, card.date, card.source];
  }),
};
