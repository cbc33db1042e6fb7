import type { ProviderSettings, SourcedPart } from "./neutral.ts";

/** Something of a message that the other format cannot hold. */
export interface Loss {
  /** The index of the message in the given list. */
  readonly index: number;
  /**
   * What was lost: the type of a part or an item (`"thinking"`), a member of one (`"text.citations"`), a provider's
   * setting of one (`"text.anthropic.cacheControl"`), or a member of the message (`"message.name"`).
   */
  readonly kind: string;
}

/** The message that is being read. */
export interface Source {
  readonly index: number;
  readonly losses: Losses;
}

/** A call that is lost, by the index of its message. */
export type LostCall = {
  readonly index: number;
  readonly id: string;
};

/** Collects what got lost, each kind once per message. */
export class Losses {
  readonly #kinds = new Map<number, Set<string>>();
  readonly #calls: LostCall[] = [];

  add(index: number, kind: string): void {
    const kinds = this.#kinds.get(index) ?? new Set();
    this.#kinds.set(index, kinds.add(kind));
  }

  /** A part as a whole. */
  part({ index, kind }: SourcedPart): void {
    this.add(index, kind);
  }

  /** A call that is lost, so that its result has nothing to answer. */
  call(index: number, kind: string, id: string): void {
    this.add(index, kind);
    this.#calls.push({ index, id });
  }

  /** In the order in which they were made. */
  calls(): readonly LostCall[] {
    return [...this.#calls];
  }

  /** The members of an object that the converter does not read. Absent members, nulls and empty lists do not count. */
  members(index: number, kind: string, of: object, known: readonly string[]): void {
    for (const [name, value] of Object.entries(of)) {
      if (!known.includes(name) && !saysNothing(value)) this.add(index, `${kind}.${name}`);
    }
  }

  /** The settings of a part that the format cannot hold, each as `provider.name`. */
  options({ index, kind, part }: SourcedPart, kept: readonly string[] = []): void {
    const options = "options" in part ? part.options : undefined;
    for (const path of settingsOf(options)) {
      if (!kept.includes(path) && path !== itemId) this.add(index, `${kind}.${path}`);
    }
  }

  /** A medium's name, if the format cannot hold it. */
  filename({ index, kind, part }: SourcedPart): void {
    if ("medium" in part && part.medium.filename !== undefined) this.add(index, `${kind}.filename`);
  }

  list(): Loss[] {
    const indexes = [...this.#kinds.keys()].sort((a, b) => a - b);
    return indexes.flatMap((index) => [...(this.#kinds.get(index) ?? [])].map((kind) => ({ index, kind })));
  }
}

/** The id by which an item is known to the API that gave it. */
const itemId = "openai.itemId";

function saysNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function settingsOf(options: ProviderSettings | undefined): string[] {
  return Object.entries(options ?? {}).flatMap(([provider, settings]) =>
    Object.entries(settings ?? {}).flatMap(([name, value]) =>
      saysNothing(value) ? [] : [`${provider}.${name}`],
    ),
  );
}
