import type { ApprovalRef, Piece, TextPlace, ToolCallRef, ToolResultRef } from "../message-format.ts";

/**
 * The one traversal of a format: tells the visitor what a message holds, in message order, and puts in place what the
 * visitor returns. It answers the message itself if nothing changed, a copy of what did change, and `undefined` if the
 * message as a whole is left out.
 */
export type Visit<M> = (message: M, at: Visitor) => M | undefined;

/**
 * What may become of a text. `text`: any text. `json`: where a value stands that must stay one, an object or a list.
 * `provider`: as `json`, and left alone where the provider encrypted some of it. `sealed`: only the provider can read it,
 * so it counts and never changes.
 */
export type TextKind = "text" | "json" | "provider" | "sealed";

/** How a part says that it is a call. Made once for each kind of part, not once for each part. */
export interface CallShape<P> {
  readonly ref: (part: P) => ToolCallRef;
  /** The member that holds the id; none where the format makes the id up. */
  readonly id?: string;
  /** The member that holds the tool's name, or what renames the tool where it stands elsewhere. */
  readonly name?: string | RenameTool<P>;
}

/** How a part says that it is a result. */
export interface ResultShape<P> {
  readonly ref: (part: P) => ToolResultRef;
  readonly id?: string;
  /** Where the format makes the id up of the tool's name: the member that takes that of a call which has one. */
  readonly idAt?: string;
  readonly name?: string | RenameTool<P>;
  /**
   * Whether it answers a call that the provider ran itself. Default: it is as the call with its id in the same message
   * says, else every result in an assistant message is the provider's.
   */
  readonly isProviders?: (part: P) => boolean;
}

/** How a part says that it is half of an approval. */
export interface ApprovalShape<P> {
  readonly ref: (part: P) => ApprovalRef;
  /** The member of a request that holds the id of its call. */
  readonly id?: string;
}

/** The part itself if `rename` returns the name it has. */
export type RenameTool<P> = (part: P, rename: (name: string) => string) => P;

/**
 * What a {@link Visit} calls, for each thing that it comes upon. This one changes nothing; each operation of a format
 * overrides the few methods it is about. Every method returns the part, a changed copy, or, if its type says so,
 * `undefined`: the part is left out.
 *
 * One part may be several things: a call with a text as its input is `call`, then `name`, then `text`.
 */
export class Visitor {
  /** A text or a value in that member, wherever it stands. It stays if it is empty. */
  text<P extends object>(part: P, _member: string, _of: TextPlace, _kind?: TextKind): P {
    return this.present(part);
  }

  /**
   * A part that is nothing but the text in that member, so that it goes if the text is empty. `isSigned` tells of an
   * empty text whether it carries a signature that must go back.
   */
  textPart<P extends object>(
    part: P,
    member: string,
    of: TextPlace,
    _isSigned?: (part: P) => boolean,
  ): P | undefined {
    return this.text(part, member, of);
  }

  /** The name of a participant or a tool: counted, and changed only by `CallShape` and `ResultShape`. */
  name(_name: unknown): void {}

  /**
   * A part of a type that the format does not know, read as JSON. `asPart` makes a part of a text that is no longer such
   * a part; without it, it never changes.
   */
  unknown<P extends object>(part: P, _of: TextPlace, _asPart?: (text: string) => P): P {
    return this.present(part);
  }

  /** An image, a file, a sound. `asPart` makes a part of a text that takes its place, where one may. */
  media<P extends object, Of extends TextPlace>(
    part: P,
    _of: Of,
    _pieceOf: (part: P, of: Of) => Piece,
    _asPart?: (text: string) => P,
  ): P | undefined {
    return this.present(part);
  }

  call<P extends object>(part: P, _shape: CallShape<P>): P | undefined {
    return this.present(part);
  }

  result<P extends object>(part: P, _shape: ResultShape<P>): P | undefined {
    return this.present(part);
  }

  approval<P extends object>(part: P, _shape: ApprovalShape<P>): P | undefined {
    return this.present(part);
  }

  /** What the model thought. Where it stands beside other things, `undefined` asks for a copy without it. */
  reasoning<P extends object>(part: P): P | undefined {
    return this.present(part);
  }

  /** A provider's own compaction item: nothing before the newest one counts. */
  boundary<P extends object>(part: P): P {
    return part;
  }

  /** A part that a provider is sent; one that is any of the above need not say so. */
  present<P extends object>(part: P): P {
    return part;
  }

  /** A part that no provider is sent. */
  unsent<P extends object>(part: P): P | undefined {
    return part;
  }

  /**
   * The member that holds all that a tool of ours put out, where that is a text or a list of parts, and whether it says
   * that the tool failed. Told before what stands in it.
   */
  told<P extends object>(part: P, _member: string, _hasFailed: boolean): P {
    return part;
  }

  /** The member with a document's file name, where the model is shown it. */
  fileName<P extends object>(part: P, _member: string): P {
    return part;
  }

  /** A part that goes back to its provider with all it holds: its texts may change, nothing in it is left out. */
  whole<P extends object, C>(part: P, visit: VisitPart<P, C>, context: C): P | undefined {
    return visit(part, this, context);
  }

  /** The object with the list in that member visited, part by part. */
  list<T extends object, P extends object | null, C>(
    of: T,
    member: string,
    visit: VisitPart<P, C>,
    context: C,
  ): T {
    const parts = (of as Readonly<Record<string, unknown>>)[member] as readonly P[];
    // Anything else with no length would pass for an empty one.
    if (!Array.isArray(parts)) throw new TypeError(`${member} must be a list`);
    let copy: P[] | undefined;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as P;
      const visited = visit(part, this, context);
      if (visited !== part) copy ??= parts.slice(0, index);
      if (visited !== undefined) copy?.push(visited);
    }
    return copy === undefined ? of : { ...of, [member]: copy };
  }
}

/** `context` is what a part cannot say of itself, such as the role of its message. */
export type VisitPart<P, C> = (part: P, at: Visitor, context: C) => P | undefined;

/** The object with another value in that member; the object itself if it is the one it has. */
export function withMember<T extends object>(of: T, member: string, value: unknown): T {
  return Object.is((of as Readonly<Record<string, unknown>>)[member], value)
    ? of
    : { ...of, [member]: value };
}
