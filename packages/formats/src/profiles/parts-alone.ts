import { type CallShape, type ResultShape, Visitor, type VisitPart } from "@turnkeep/core/format-kit";

/** Asked with the id of each call or result whether it stays. */
interface Kept {
  readonly calls?: (id: string) => boolean;
  readonly results?: (id: string) => boolean;
}

/**
 * Leaves of a message the parts that hold some of its calls or results, as they are. Nothing else stays, of whatever kind it
 * is: it stands in the copy that is made without these.
 */
export class PartsAlone extends Visitor {
  readonly #kept: Kept;
  #isWithinPart = false;
  #holdsKept = false;

  constructor(kept: Kept) {
    super();
    this.#kept = kept;
  }

  override list<T extends object, P extends object | null, C>(
    of: T,
    member: string,
    visit: VisitPart<P, C>,
    context: C,
  ): T {
    if (this.#isWithinPart) return of;
    const parts = (of as Readonly<Record<string, unknown>>)[member] as readonly P[];
    this.#isWithinPart = true;
    const left = parts.filter((part) => {
      this.#holdsKept = false;
      visit(part, this, context);
      return this.#holdsKept;
    });
    this.#isWithinPart = false;
    return { ...of, [member]: left };
  }

  override call<P extends object>(part: P, { ref }: CallShape<P>): P | undefined {
    return this.#keep(part, this.#kept.calls?.(ref(part).id));
  }

  override result<P extends object>(part: P, { ref }: ResultShape<P>): P | undefined {
    return this.#keep(part, this.#kept.results?.(ref(part).id));
  }

  // What stands beside the lists of a message.

  override textPart(): undefined {}

  override reasoning(): undefined {}

  override media(): undefined {}

  #keep<P>(part: P, isKept = false): P | undefined {
    this.#holdsKept ||= isKept;
    return isKept ? part : undefined;
  }
}
