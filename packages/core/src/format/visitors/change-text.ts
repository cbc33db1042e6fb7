import type { TextPlace } from "../../message-format.ts";
import { asText } from "../as-text.ts";
import { mapJsonText } from "../map-json-text.ts";
import { type TextKind, Visitor, type VisitPart, withMember } from "../visitor.ts";

/** Visitors that change texts or leave empty ones out. */

type Change = (text: string, of: TextPlace) => string;

/** See `MessageFormat.mapText`. */
export class MapText extends Visitor {
  readonly #change: Change;

  constructor(change: Change) {
    super();
    this.#change = change;
  }

  override text<P extends object>(part: P, member: string, of: TextPlace, kind: TextKind = "text"): P {
    const value = (part as Readonly<Record<string, unknown>>)[member];
    if (kind === "sealed" || (kind === "provider" && holdsEncrypted(value))) return part;
    return withMember(part, member, this.#mapped(value, of, kind !== "text"));
  }

  override unknown<P extends object>(part: P, of: TextPlace, asPart?: (text: string) => P): P {
    if (asPart === undefined) return part;
    const changed = this.#mapped(part, of, false);
    if (changed === part) return part;
    return isAlike(changed as Typed | null, part as Typed) ? (changed as P) : asPart(asText(changed));
  }

  #mapped(value: unknown, of: TextPlace, keepsKind: boolean): unknown {
    return mapJsonText(value, asText(value), (text) => this.#change(text, of), keepsKind);
  }
}

interface Typed {
  readonly type?: unknown;
  readonly kind?: unknown;
}

function isAlike(changed: Typed | null, part: Typed): boolean {
  return changed?.type === part.type && typeof changed?.kind === typeof part.kind;
}

/** A provider's own tool output must go back as it came: encrypted content stays as it is. */
function holdsEncrypted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => name.startsWith("encrypted") || holdsEncrypted(member),
  );
}

/** See `MessageFormat.withoutEmptyText`. */
export class WithoutEmptyText extends Visitor {
  readonly #which: "empty" | "blank";
  readonly #keepSigned: boolean;

  constructor(which: "empty" | "blank", keepSigned: boolean) {
    super();
    this.#which = which;
    this.#keepSigned = keepSigned;
  }

  override textPart<P extends object>(
    part: P,
    member: string,
    of: TextPlace,
    isSigned?: (part: P) => boolean,
  ): P | undefined {
    if (of !== "content") return part;
    const text = asText((part as Readonly<Record<string, unknown>>)[member]);
    if ((this.#which === "blank" ? text.trim() : text) !== "") return part;
    return this.#keepSigned && isSigned?.(part) ? part : undefined;
  }

  override unsent(): undefined {
    return undefined;
  }

  override whole<P extends object, C>(part: P, _visit: VisitPart<P, C>, _context: C): P {
    return part;
  }
}

/** See `MessageFormat.withResultText`. */
export class WithResultText extends Visitor {
  readonly #failed: string;
  readonly #silent: string | undefined;
  readonly #blank: string | undefined;
  /** What stands in for the blank texts of the result that is being told; nothing in one of the provider's own. */
  #standIn: string | undefined;

  constructor(failed: string, silent: string | undefined, blank: string | undefined) {
    super();
    this.#failed = failed;
    this.#silent = silent;
    this.#blank = blank;
  }

  override result<P extends object>(part: P): P {
    this.#standIn = undefined;
    return part;
  }

  override told<P extends object>(part: P, member: string, hasFailed: boolean): P {
    const value = (part as Readonly<Record<string, unknown>>)[member] ?? "";
    const isOfParts = Array.isArray(value) && value.length > 0;
    const isEmpty = value === "" || (Array.isArray(value) && !isOfParts);
    const otherwise = isOfParts ? this.#blank : this.#silent;
    const text = hasFailed ? this.#failed : otherwise;
    this.#standIn = text;
    return isEmpty && text !== undefined ? withMember(part, member, text) : part;
  }

  override text<P extends object>(part: P, member: string, of: TextPlace): P {
    const value = (part as Readonly<Record<string, unknown>>)[member];
    const isBlank = of === "tool-result" && typeof value === "string" && value.trim() === "";
    return isBlank && this.#standIn !== undefined ? withMember(part, member, this.#standIn) : part;
  }
}
