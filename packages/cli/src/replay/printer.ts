import { oneLine } from "../terminal/controls.ts";
import { cutTo, displayWidth } from "../terminal/display-width.ts";
import { number, some } from "../terminal/figures.ts";
import { type Style, styleOf } from "../terminal/style.ts";
import { kindNames } from "./message-kind.ts";
import { type Settings, tokenTarget } from "./options.ts";
import type { BadLine } from "./read-conversations.ts";
import type {
  CheckReport,
  ConversationSummary,
  Departure,
  ExplainedLine,
  PartReport,
  TurnReport,
  View,
  ViewFigures,
} from "./report.ts";

/** What a replay came to, and how many messages the store had forgotten half-way. */
interface ReplayOutcome {
  readonly check: CheckReport;
  readonly part: PartReport;
  readonly badLines: number;
  readonly forgotten: number;
}

const labelWidth = 12;
const whoWidth = 11;
const barWidth = 16;

/** Writes a replay for people: aligned, at most as wide as asked, coloured or plain. */
export class Printer {
  readonly #settings: Settings;
  readonly #style: Style;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#style = styleOf(settings.colour);
  }

  start(
    count: { readonly conversations: number; readonly messages: number; readonly turns: number },
    store: string,
  ): void {
    const { conversations, messages, turns } = count;
    this.#line(
      this.#style.title(
        `Replaying ${some(conversations, "conversation")}: ${some(messages, "message")} in ${some(turns, "turn")}`,
      ),
    );
    this.#line(`${this.#label("window")}${this.#window()}`);
    this.#line(`${this.#label("store")}${store}`);
    if (this.#settings.quiet) this.#line();
  }

  badLine({ file, line, problem }: BadLine): void {
    // Whole, however long: what must be mended may stand at its end.
    this.#line(
      `${this.#style.bad("skipped".padEnd(labelWidth))}${oneLine(file)}, line ${line}: ${oneLine(problem)}`,
    );
  }

  conversation({ id, kind, messages, turns, resumedAt }: ConversationSummary): void {
    if (this.#settings.quiet) return;
    const facts = `${kindNames[kind]}, ${some(messages, "message")} in ${some(turns, "turn")}`;
    const goesOn = resumedAt > 1 ? `; goes on at turn ${resumedAt}` : "";
    this.#line();
    this.#line(`${this.#style.title(cutTo(id, 40))}  ${this.#style.dim(facts + goesOn)}`);
  }

  turn(report: TurnReport): void {
    if (this.#settings.quiet) return;
    const style = this.#style;
    this.#line();
    report.arrivals.forEach(({ who, text }, index) => {
      const label =
        index === 0 ? style.dim(`  turn ${report.number}`.padEnd(labelWidth)) : " ".repeat(labelWidth);
      const width = this.#settings.columns - labelWidth - whoWidth;
      this.#line(`${label}${style.came(who.padEnd(whoWidth))}${cutTo(text, width)}`);
    });
    this.#line(`${this.#mark("shown", style.shown)}${this.#view(report.view)}`);
    if (report.overflow !== undefined && report.view.overflow === undefined) {
      const { needed, limit } = report.overflow;
      const text = `for a while the newest step alone did not fit: it needed ${number(needed)}, the limit is ${number(limit)}`;
      this.#line(" ".repeat(labelWidth + whoWidth) + style.bad(text));
    }
    if (report.systemReplaced) {
      this.#line(`${this.#mark("left", style.left)}the system message: a new one stands in its place`);
    }
    if (report.left !== undefined)
      this.#line(`${this.#mark("left", style.left)}${this.#departure(report.left)}`);
    const { kept, live } = report.history;
    const rest = kept === live ? "all in memory" : `${live} in memory, ${kept - live} no longer`;
    this.#line(`${this.#mark("history", style.kept)}${some(kept, "message")}: ${rest}`);
    for (const line of report.explained) this.#explained(line);
  }

  #explained({ state, by, messages, tokens, arrival }: ExplainedLine): void {
    const [first, last] = messages ?? [];
    const which =
      first === undefined ? "put in" : first === last ? `message ${first}` : `messages ${first} to ${last}`;
    const facts = [by === undefined ? "" : `by ${by}`, tokens === 0 ? "" : some(tokens, "token")];
    const head = [which, ...facts.filter((fact) => fact !== "")].join(", ");
    const text = arrival === undefined ? "" : `: ${arrival.who} ${arrival.text}`;
    const width = this.#settings.columns - labelWidth - whoWidth;
    const paint = state === "shown" ? this.#style.shown : this.#style.left;
    this.#line(`${this.#mark(state, paint)}${cutTo(head + text, width)}`);
  }

  /** One line for a conversation that is complete, where turns are not shown. */
  summary({ id, messages, turns }: ConversationSummary, last: TurnReport): void {
    if (!this.#settings.quiet) return;
    const { view, history } = last;
    const name = cutTo(id, 32);
    const pad = " ".repeat(34 - displayWidth(name));
    const size = `${some(messages, "message").padStart(14)}${some(turns, "turn").padStart(11)}`;
    this.#line(
      `${name}${pad}${size}   shown ${view.messages}, left ${history.kept - history.live}, kept ${history.kept}`,
    );
  }

  failure({ id, problem }: { readonly id: string; readonly problem: string }): void {
    this.#line(`${this.#style.bad("failed".padEnd(labelWidth))}${cutTo(id, 40)}: ${oneLine(problem)}`);
  }

  /** `process`: the number of the process that goes on, if it is another one. */
  halfWay(done: number, turns: number, store: string, process: number | undefined): void {
    this.#line();
    const [stops, goesOn] =
      process === undefined
        ? ["The database is closed.", `It is opened again, as ${store}, and the replay goes on.`]
        : [
            "This process closes the database and stops.",
            `A second process (${process}) opens ${store} and goes on where the first stopped.`,
          ];
    this.#line(this.#style.title(`Half-way: ${number(done)} of ${some(turns, "turn")}. ${stops}`));
    this.#line(goesOn);
    if (this.#settings.quiet) this.#line();
  }

  end(outcome: ReplayOutcome): void {
    const { check, part } = outcome;
    this.#line();
    this.#line(
      this.#style.title(`Checked: ${some(check.conversations, "conversation")}, read back from the store`),
    );
    const expected = check.messages - check.repeated;
    const repeated = check.repeated === 0 ? "" : ` (${check.repeated} equal system messages are kept once)`;
    const sound = check.found === expected && check.faults.length === 0;
    const which = sound ? ", each once, in order, with equal content" : "";
    this.#line(
      `${this.#label("history")}${number(check.found)} of ${some(expected, "message")}${which}${repeated}`,
    );
    const replaced =
      check.superseded === 0 ? "" : `, ${number(check.superseded)} replaced by another system message`;
    this.#line(
      `${this.#label("memory")}${number(check.live)} in memory, ${number(check.evicted)} evicted${replaced}`,
    );
    this.#line(`${this.#label("views")}${this.#views(part.figures)}`);
    for (const fault of check.faults)
      this.#line(
        `${this.#style.bad("wrong".padEnd(labelWidth))}${cutTo(fault.id, 40)}: ${oneLine(fault.problem)}`,
      );
    this.#line();
    this.#line(this.#verdict(outcome));
  }

  #verdict({ check, part: { figures, failures }, badLines, forgotten }: ReplayOutcome): string {
    const problems = [
      forgotten === 0
        ? ""
        : `it had forgotten ${some(forgotten, "message")} when it was opened again half-way`,
      badLines === 0 ? "" : `${some(badLines, "line")} skipped`,
      failures.length === 0 ? "" : `${some(failures.length, "conversation")} failed`,
      check.faults.length === 0 ? "" : `the history of ${some(check.faults.length, "conversation")} is wrong`,
      figures.overLimit === 0 ? "" : `${some(figures.overLimit, "view")} over the limit`,
      figures.broken === 0 ? "" : `${some(figures.broken, "view")} with a call or result alone`,
    ].filter((problem) => problem !== "");
    const lost = check.messages - check.repeated - check.found;
    const kept =
      lost === 0 && check.faults.length === 0
        ? forgotten === 0
          ? "Nothing was lost"
          : "The store holds what the file says"
        : "The store does not hold what the file says";
    if (problems.length === 0) return this.#style.good(`${kept}.`);
    return this.#style.bad(`${kept}, but: ${problems.join(", ")}.`);
  }

  /** Several lines, each under the first. */
  #views({ views, largestTokens, largestMessages, overLimit, broken, overflows }: ViewFigures): string {
    const { maxTokens, maxMessages, unit } = this.#settings;
    const sizes = [
      maxTokens === undefined ? "" : `${number(largestTokens)} of ${number(maxTokens)} tokens`,
      maxMessages === undefined ? "" : `${number(largestMessages)} of ${some(maxMessages, "message")}`,
    ].filter((size) => size !== "");
    const facts = [`${overLimit === 0 ? "none" : number(overLimit)} over the limit`];
    if (unit !== "message")
      facts.push(`${broken === 0 ? "none" : number(broken)} with a tool call or result alone`);
    const largest = views === 0 ? "" : `, the largest ${sizes.join(" and ")}`;
    const lines = [`${some(views, "view")}${largest}`, facts.join(", ")];
    if (overflows > 0) lines.push(`${number(overflows)} withheld, because the newest step alone did not fit`);
    return lines.join(`\n${this.#label("")}`);
  }

  #window(): string {
    const { maxTokens, maxMessages, unit } = this.#settings;
    const limits = [
      maxTokens === undefined ? "" : `${some(maxTokens, "token")} (o200k_base)`,
      maxMessages === undefined ? "" : some(maxMessages, "message"),
    ].filter((limit) => limit !== "");
    const what = { step: "whole steps", turn: "whole turns", message: "single messages" }[unit];
    const down =
      maxTokens === undefined || unit === "message"
        ? ""
        : `, down to ${number(maxTokens * tokenTarget)} tokens`;
    return `${limits.join(" and ")}; over that, the oldest ${what} leave${down}`;
  }

  #view({ messages, tokens, overflow }: View): string {
    if (overflow !== undefined) {
      const { needed, limit } = overflow;
      return this.#style.bad(
        `does not fit: the newest step alone needs ${number(needed)}, the limit is ${number(limit)}`,
      );
    }
    const { maxTokens, maxMessages } = this.#settings;
    const count =
      maxMessages === undefined
        ? some(messages, "message")
        : `${messages} of ${some(maxMessages, "message")}`;
    if (maxTokens === undefined) return `${count.padEnd(18)}${bar(messages / (maxMessages ?? messages))}`;
    const size = `${number(tokens)} of ${number(maxTokens)} tokens`;
    return `${count.padEnd(maxMessages === undefined ? 14 : 20)}${size.padEnd(24)}${bar(tokens / maxTokens)}`;
  }

  #departure({ messages, turns: [first, last], over }: Departure): string {
    const turns = first === last ? `turn ${first}` : `turns ${first} to ${last}`;
    const { maxTokens, maxMessages } = this.#settings;
    const limit = over.of === "tokens" ? maxTokens : maxMessages;
    return `${some(messages, "message")} of ${turns}, because ${number(over.amount)} ${over.of} exceed ${number(limit ?? 0)}`;
  }

  #mark(name: string, paint: (text: string) => string): string {
    return " ".repeat(labelWidth) + paint(name.padEnd(whoWidth));
  }

  #label(name: string): string {
    return this.#style.dim(name.padEnd(labelWidth));
  }

  #line(text = ""): void {
    this.#settings.write(`${text}\n`);
  }
}

function bar(part: number): string {
  const full = Math.min(barWidth, Math.round(part * barWidth));
  return "█".repeat(full) + "░".repeat(barWidth - full);
}
