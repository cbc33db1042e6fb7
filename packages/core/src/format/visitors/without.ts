import type { Omission } from "../../message-format.ts";
import { type ApprovalShape, type CallShape, type ResultShape, Visitor, type VisitPart } from "../visitor.ts";

/** See `MessageFormat.without`. */
export class Without extends Visitor {
  readonly #omission: Omission;

  constructor(omission: Omission) {
    super();
    this.#omission = omission;
  }

  override call<P extends object>(part: P, { ref }: CallShape<P>): P | undefined {
    return this.#omission.toolCalls?.(ref(part).id) ? undefined : part;
  }

  override result<P extends object>(part: P, { ref }: ResultShape<P>): P | undefined {
    return this.#omission.toolResults?.(ref(part).id) ? undefined : part;
  }

  override approval<P extends object>(part: P, { ref }: ApprovalShape<P>): P | undefined {
    const { toolCalls, approvals } = this.#omission;
    const half = ref(part);
    const isLeftOut = half.kind === "request" ? toolCalls?.(half.toolCallId) : approvals?.(half.approvalId);
    return isLeftOut ? undefined : part;
  }

  override reasoning<P extends object>(part: P): P | undefined {
    return this.#omission.reasoning === true ? undefined : part;
  }

  override media<P extends object>(part: P): P | undefined {
    return this.#omission.media === true ? undefined : part;
  }

  override whole<P extends object, C>(part: P, _visit: VisitPart<P, C>, _context: C): P {
    return part;
  }
}
