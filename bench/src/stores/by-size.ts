import { conversation, newMessages } from "../corpus.ts";
import { callsOfTurn } from "../measure.ts";
import {
  type Arena,
  type Contender,
  delaysMs,
  inside,
  showWindow,
  type Window,
  windows,
} from "./contender.ts";
import { countTraffic, type OperationTraffic } from "./count-traffic.ts";
import { countUnits, type OperationUnits } from "./count-units.ts";
import { countWritten, type Written } from "./count-written.ts";
import { echo } from "./echo.ts";
import { type Calls, measure, type Side, type Times } from "./operations.ts";
import { checkTwoWriters, fillAndCheck, type Shortfall, Shortfalls } from "./shortfalls.ts";

/** Of which traffic is counted too. */
const countedSizes = [10, 1_000, 100_000];

/** One line of the figures. */
export interface Line extends Times {
  readonly window: Window;
  readonly size: number;
  readonly what: Pick<Contender, "name" | "kind">;
}

/** What the operations of one of them send or cost. */
interface Count<T> extends Pick<Contender, "name" | "kind"> {
  readonly size: number;
  readonly of: T;
}

/** What everybody's operations take, send and cost, by how many messages were said. */
export interface FiguresBySize {
  readonly lines: readonly Line[];
  readonly traffic: readonly Count<OperationTraffic>[];
  readonly units: readonly Count<OperationUnits>[];
  /** Ours and the floors at the fewest and at the most messages, taking turns with our store alone at the fewest. */
  readonly inTurns: readonly Line[];
  /** Ours, our store alone and the floors at the fewest messages where nobody waits for the disk; none where that cannot be. */
  readonly unsynced: readonly Line[];
  /** Everybody at the fewest messages, where each makes one call before the next has its turn. */
  readonly alone: readonly Line[];
  /** What a message takes in the database, of ours, our store alone and the floors, where the database tells. */
  readonly written: readonly (Written & { readonly name: string })[];
  /** Ours, the floors and those by hand at the fewest messages, over networks; none where there is no network. */
  readonly overNetworks: readonly NetworkFigures[];
  readonly shortfalls: readonly Shortfall[];
}

/** What a network of that delay makes of the calls. */
export interface NetworkFigures {
  readonly delayMs: number;
  /** What a round trip of one byte takes then. */
  readonly echoMs: number;
  readonly lines: readonly Line[];
}

/** What everybody is asked, and how often. */
interface Asked extends Pick<Calls, "window" | "count" | "inARow"> {
  readonly conversations: readonly string[];
  readonly size: number;
}

export function bySize(arena: Arena, quick: boolean, say: (text: string) => void): Promise<FiguresBySize> {
  return inside(arena, "direct", (contenders) =>
    inside(arena, "direct", (writers) => new BySize(arena, contenders, writers, quick).run(say)),
  );
}

class BySize {
  readonly #arena: Arena;
  readonly #contenders: readonly Contender[];
  readonly #writers: readonly Contender[];
  readonly #sizes: readonly number[];
  readonly #count: number;
  readonly #budgetMs: number;
  readonly #next = newMessages(3);
  readonly #said: ReturnType<typeof conversation>;
  readonly #quick: boolean;
  readonly #shortfalls = new Shortfalls();

  constructor(arena: Arena, contenders: readonly Contender[], writers: readonly Contender[], quick: boolean) {
    const { largest, budgetMs } = arena.bounds ?? { largest: 100_000, budgetMs: 2_000 };
    this.#arena = arena;
    this.#quick = quick;
    this.#contenders = contenders;
    this.#writers = writers;
    this.#sizes = (quick ? [10, 1_000] : [10, 100, 1_000, 10_000, 100_000]).filter((size) => size <= largest);
    this.#count = callsOfTurn * (quick ? 1 : 12);
    this.#budgetMs = budgetMs;
    this.#said = conversation(this.#sizes.at(-1) ?? 0);
  }

  async run(say: (text: string) => void): Promise<FiguresBySize> {
    const lines: Line[] = [];
    const traffic: FiguresBySize["traffic"][number][] = [];
    const units: FiguresBySize["units"][number][] = [];
    const least = Math.min(...this.#sizes);
    const [, tokens] = windows;
    const usual = { count: this.#count, inARow: callsOfTurn };
    for (const one of this.#contenders) {
      if (one.kind === "hand") await checkTwoWriters(one, nameOf("two writers", 0), tokens);
    }
    // As a process is that has served for a while: compiled, connected, its statements planned. Without it the first
    // size that is measured takes a third longer than the next.
    say(`${this.#arena.name}: warming up`);
    for (const window of windows) {
      await this.#times({ ...this.#conversations("warm", least), ...usual, count: 20 * this.#count, window });
    }
    for (const size of this.#sizes) {
      for (const window of windows) {
        say(`${this.#arena.name}: ${size.toLocaleString("en-US")} messages, ${showWindow(window)}`);
        lines.push(...(await this.#times({ ...this.#conversations(String(size), size), ...usual, window })));
      }
      units.push(...(await this.#units(size)));
      if (countedSizes.includes(size) || size === this.#sizes.at(-1)) {
        traffic.push(...(await this.#traffic(size)));
      }
    }
    const inTurns = await this.#inTurns(say);
    const unsynced = await this.#unsynced(say);
    say(`${this.#arena.name}: one call each`);
    const conversations = this.#conversations("one call", least);
    const alone = await this.#times({ ...conversations, ...usual, inARow: 1, window: tokens });
    const written = await this.#written();
    const overNetworks = await this.#overNetworks(say);
    const shortfalls = this.#shortfalls.all;
    return { lines, traffic, units, inTurns, unsynced, alone, written, overNetworks, shortfalls };
  }

  /** What a machine is busy with besides meets both sizes alike, which it does not where one is measured after the other. */
  async #inTurns(say: (text: string) => void): Promise<Line[]> {
    const [least, most] = [Math.min(...this.#sizes), Math.max(...this.#sizes)];
    say(`${this.#arena.name}: ${least} and ${most.toLocaleString("en-US")} messages in turns`);
    const long = [nameOf(String(most), 0)];
    const { conversations } = this.#conversations("in turns", least);
    const sides = sidesOf(this.#contenders, this.#writers, conversations)
      .filter(({ contender }) => contender.kind !== "peer")
      .flatMap((side) => [
        { ...side, size: least },
        { ...side, size: most, conversations: long },
        ...aloneOf(side).map((alone) => ({ ...alone, size: least })),
      ]);
    return this.#between(sides, least);
  }

  async #unsynced(say: (text: string) => void): Promise<Line[]> {
    if (this.#arena.unsynced !== true) return [];
    const size = Math.min(...this.#sizes);
    say(`${this.#arena.name}: ${size} messages, nobody waits for the disk`);
    const { conversations } = this.#conversations("unsynced", size);
    return inside(this.#arena, "unsynced", (contenders) =>
      inside(this.#arena, "unsynced", (writers) => {
        const sides = sidesOf(contenders, writers, conversations)
          .filter(({ contender }) => contender.kind !== "peer")
          .flatMap((side) => [side, ...aloneOf(side)]);
        return this.#between(
          sides.map((side) => ({ ...side, size })),
          size,
        );
      }),
    );
  }

  async #written(): Promise<FiguresBySize["written"]> {
    const { written } = this.#arena;
    if (written === undefined) return [];
    const found: FiguresBySize["written"][number][] = [];
    const asked = this.#contenders
      .filter(({ kind }) => kind !== "peer")
      .flatMap((one) => [one, one.store ?? []]);
    for (const one of asked.flat()) found.push(await countWritten(written, one, windows[0], this.#quick));
    return found;
  }

  async #overNetworks(say: (text: string) => void): Promise<NetworkFigures[]> {
    if (this.#arena.traffic === undefined) return [];
    const size = Math.min(...this.#sizes);
    const found: NetworkFigures[] = [];
    for (const delayMs of delaysMs) {
      say(`${this.#arena.name}: ${size} messages, ${delayMs} ms of network`);
      const echoMs = await echo(delayMs);
      const calls = { count: callsOfTurn * (this.#quick ? 1 : delayMs < 10 ? 5 : 3), budgetMs: Infinity };
      const { conversations } = this.#conversations(`network ${delayMs}`, size);
      const lines = await inside(this.#arena, { delayMs }, (contenders) => {
        const sides = sidesOf(contenders, this.#writers, conversations)
          .filter(({ contender }) => contender.kind !== "peer")
          .map((side) => ({ ...side, size }));
        return this.#between(sides, size, calls);
      });
      found.push({ delayMs, echoMs, lines });
    }
    return found;
  }

  /** Of these, in turns; conversations of other sizes than `filled` are there already. */
  async #between(
    sides: readonly (Side & { readonly size: number })[],
    filled: number,
    more: Partial<Calls> = {},
  ): Promise<Line[]> {
    const [, window] = windows;
    for (const { contender, size, conversations } of sides) {
      if (size !== filled) continue;
      for (const name of conversations) await contender.fill(name, this.#said.slice(0, size), window);
    }
    await this.#arena.settle?.();
    const calls = this.#calls({ size: filled, count: this.#count, inARow: callsOfTurn, window });
    const times = await measure(sides, { ...calls, ...more });
    return sides.map(({ contender, size }, index) => lineOf(contender, window, size, times[index] as Times));
  }

  /** Of everybody who can go on, in turns, in conversations of that size. */
  async #times({ conversations, ...asked }: Asked): Promise<Line[]> {
    const { size, window } = asked;
    const calls = this.#calls(asked);
    const { attempt, isIn } = calls;
    for (const contender of this.#contenders) {
      for (const name of conversations) {
        if (!isIn(contender)) continue;
        await attempt(contender, () => fillAndCheck(contender, name, this.#said.slice(0, size), window));
      }
    }
    await this.#arena.settle?.();
    const times = await measure(sidesOf(this.#contenders, this.#writers, conversations), calls);
    return times.flatMap((of, index) =>
      of === undefined ? [] : [lineOf(this.#contenders[index] as Contender, window, size, of)],
    );
  }

  /** So many that each stays about as long as it is said to be while it is measured. */
  #conversations(label: string, size: number): Pick<Asked, "conversations" | "size"> {
    const count = Math.max(1, Math.ceil((this.#count * 3) / size));
    return { conversations: Array.from({ length: count }, (_, index) => nameOf(label, index)), size };
  }

  #calls({ size, ...asked }: Omit<Asked, "conversations">): Calls {
    return {
      ...asked,
      budgetMs: this.#budgetMs,
      next: this.#next,
      attempt: (contender, run) => this.#shortfalls.attempt(contender, size, run),
      isIn: (contender) => !this.#shortfalls.has(contender),
    };
  }

  async #units(size: number): Promise<FiguresBySize["units"][number][]> {
    const { unitsOf } = this.#arena;
    if (unitsOf === undefined) return [];
    return this.#ofEach(this.#contenders, size, (contender, writer, name, window) =>
      countUnits(unitsOf, contender, writer, name, window),
    );
  }

  /** Over clients of their own, whose way leads through a counter. */
  async #traffic(size: number): Promise<FiguresBySize["traffic"][number][]> {
    const { traffic } = this.#arena;
    if (traffic === undefined) return [];
    return inside(this.#arena, "counted", (contenders) =>
      this.#ofEach(contenders, size, (contender, writer, name, window) =>
        countTraffic(traffic, contender, writer, name, window),
      ),
    );
  }

  /** In the first conversation of that size and the first window. */
  async #ofEach<T>(
    contenders: readonly Contender[],
    size: number,
    count: (contender: Contender, writer: Contender, name: string, window: Window) => Promise<T>,
  ): Promise<Count<T>[]> {
    const [window] = windows;
    const counts: Count<T>[] = [];
    for (const [index, contender] of contenders.entries()) {
      if (this.#shortfalls.has(contender)) continue;
      const writer = this.#writers[index] as Contender;
      const run = (): Promise<T> => count(contender, writer, nameOf(String(size), 0), window);
      const of = await this.#shortfalls.attempt(contender, size, run);
      if (of !== undefined) counts.push({ size, name: contender.name, kind: contender.kind, of });
    }
    return counts;
  }
}

function sidesOf(
  contenders: readonly Contender[],
  writers: readonly Contender[],
  conversations: readonly string[],
): Side[] {
  return contenders.map((contender, index) => {
    return { contender, writer: writers[index] as Contender, conversations };
  });
}

/** Our store without a memory over it, if the side is ours. */
function aloneOf(side: Side): Side[] {
  const { contender, writer } = side;
  return contender.store && writer.store
    ? [{ ...side, contender: contender.store, writer: writer.store }]
    : [];
}

function lineOf({ name, kind }: Contender, window: Window, size: number, times: Times): Line {
  return { window, size, what: { name, kind }, ...times };
}

function nameOf(label: string, index: number): string {
  return `${label}-${index}`;
}
