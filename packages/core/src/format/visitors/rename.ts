import type { CallPlace, Role } from "../../message-format.ts";
import {
  type ApprovalShape,
  type CallShape,
  type RenameTool,
  type ResultShape,
  Visitor,
  withMember,
} from "../visitor.ts";

/** Visitors that rename. What the provider runs itself keeps its ids and names. */

/** Whether the provider ran the call with an id, by the first call of a message that has it. */
type Runners = (id: string) => boolean | undefined;

abstract class Rename extends Visitor {
  readonly #role: Role;
  readonly #runs: Runners;

  constructor(role: Role, runs: Runners) {
    super();
    this.#role = role;
    this.#runs = runs;
  }

  protected isProvidersResult<P extends object>(part: P, { ref, isProviders }: ResultShape<P>): boolean {
    if (isProviders !== undefined) return isProviders(part);
    return this.isProvidersCall(ref(part).id) ?? this.#role === "assistant";
  }

  protected isProvidersCall(id: string): boolean | undefined {
    return this.#runs(id);
  }
}

/** See `MessageFormat.renameCalls`. */
export class RenameCalls extends Rename {
  readonly #rename: (id: string, of: CallPlace) => string;

  constructor(rename: (id: string, of: CallPlace) => string, role: Role, runs: Runners) {
    super(role, runs);
    this.#rename = rename;
  }

  override call<P extends object>(part: P, { ref, id }: CallShape<P>): P {
    const { id: now, providerExecuted } = ref(part);
    return providerExecuted === true ? part : this.#renamed(part, id, now, "call");
  }

  override result<P extends object>(part: P, shape: ResultShape<P>): P {
    if (shape.id === undefined || this.isProvidersResult(part, shape)) return part;
    return this.#renamed(part, shape.id, shape.ref(part).id, "result");
  }

  override approval<P extends object>(part: P, { ref, id }: ApprovalShape<P>): P {
    const half = ref(part);
    if (half.kind === "response" || this.isProvidersCall(half.toolCallId) === true) return part;
    return this.#renamed(part, id, half.toolCallId, "request");
  }

  #renamed<P extends object>(part: P, member: string | undefined, now: string, of: CallPlace): P {
    return member === undefined ? part : withMember(part, member, this.#rename(now, of));
  }
}

/** See `MessageFormat.renameTools`. */
export class RenameTools extends Rename {
  readonly #rename: (name: string) => string;

  constructor(rename: (name: string) => string, role: Role, runs: Runners) {
    super(role, runs);
    this.#rename = rename;
  }

  override call<P extends object>(part: P, { ref, name }: CallShape<P>): P {
    return ref(part).providerExecuted === true ? part : this.#renamed(part, name);
  }

  override result<P extends object>(part: P, shape: ResultShape<P>): P {
    if (shape.name === undefined || this.isProvidersResult(part, shape)) return part;
    return this.#renamed(part, shape.name);
  }

  #renamed<P extends object>(part: P, name: string | RenameTool<P> | undefined): P {
    if (typeof name === "function") return name(part, this.#rename);
    const now = name === undefined ? undefined : (part as Readonly<Record<string, unknown>>)[name];
    return typeof now === "string" ? withMember(part, name as string, this.#rename(now)) : part;
  }
}

/** See `MessageFormat.renameDocuments`. */
export class RenameDocuments extends Visitor {
  readonly #rename: (name: string) => string;

  constructor(rename: (name: string) => string) {
    super();
    this.#rename = rename;
  }

  override fileName<P extends object>(part: P, member: string): P {
    const now = (part as Readonly<Record<string, unknown>>)[member];
    return typeof now === "string" ? withMember(part, member, this.#rename(now)) : part;
  }
}
