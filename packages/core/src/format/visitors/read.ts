import type { ApprovalRef, Piece, TextPlace, ToolCallRef, ToolResultRef } from "../../message-format.ts";
import { asText } from "../as-text.ts";
import { type ApprovalShape, type CallShape, type ResultShape, Visitor } from "../visitor.ts";

/** Visitors that only look. */

export class Pieces extends Visitor {
  readonly pieces: Piece[] = [];

  override text<P extends object>(part: P, member: string, of: TextPlace): P {
    this.#add((part as Readonly<Record<string, unknown>>)[member], of);
    return part;
  }

  override name(name: unknown): void {
    this.#add(name, "name");
  }

  override unknown<P extends object>(part: P, of: TextPlace): P {
    this.#add(part, of);
    return part;
  }

  override media<P extends object, Of extends TextPlace>(
    part: P,
    of: Of,
    pieceOf: (part: P, of: Of) => Piece,
  ): P {
    this.pieces.push(pieceOf(part, of));
    return part;
  }

  #add(value: unknown, of: TextPlace | "name"): void {
    this.pieces.push({ type: "text", text: asText(value), of });
  }
}

export class CallRefs extends Visitor {
  readonly calls: ToolCallRef[] = [];

  override call<P extends object>(part: P, { ref }: CallShape<P>): P {
    this.calls.push(ref(part));
    return part;
  }
}

export class ResultRefs extends Visitor {
  readonly results: ToolResultRef[] = [];

  override result<P extends object>(part: P, { ref }: ResultShape<P>): P {
    this.results.push(ref(part));
    return part;
  }
}

export class ApprovalRefs extends Visitor {
  readonly approvals: ApprovalRef[] = [];

  override approval<P extends object>(part: P, { ref }: ApprovalShape<P>): P {
    this.approvals.push(ref(part));
    return part;
  }
}

/** Whether there is reasoning, and whether there is a boundary. */
export class Traits extends Visitor {
  hasReasoning = false;
  isBoundary = false;

  override reasoning<P extends object>(part: P): P {
    this.hasReasoning = true;
    return part;
  }

  override boundary<P extends object>(part: P): P {
    this.isBoundary = true;
    return part;
  }
}

/** Whether a provider would see anything: any part, unless it is a text of those that do not count. */
export class Presence extends Visitor {
  isThere = false;
  readonly #countsBlanks: boolean;

  constructor(countsBlanks: boolean) {
    super();
    this.#countsBlanks = countsBlanks;
  }

  override textPart<P extends object>(part: P, member: string, of: TextPlace): P {
    const isBlank = (): boolean => asText((part as Readonly<Record<string, unknown>>)[member]).trim() === "";
    return of === "content" && !this.#countsBlanks && isBlank() ? part : this.present(part);
  }

  override present<P extends object>(part: P): P {
    this.isThere = true;
    return part;
  }
}
