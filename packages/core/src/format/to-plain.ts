import { toBase64 } from "../base64.ts";
import { quoted, TurnkeepError } from "../errors.ts";

/**
 * The member that marks what JSON cannot hold by itself: `{"$turnkeep": kind, "value": …}`. An object that has such a
 * member of its own is wrapped once more, under the kind `object`.
 */
export const tag = "$turnkeep";

/** Nesting beyond this is refused, so that no engine's recursion limit decides what can be read again. */
export const maxDepth = 500;

type Path = (string | number)[];

/** A copy that is being made: how it got to where it is, and what it has met. */
interface Copying {
  readonly path: Path;
  readonly above: object[];
  isTagged: boolean;
}

/** A value as JSON can hold it. */
export interface Plain {
  readonly plain: unknown;
  /** Whether something in it stands for what JSON cannot hold; otherwise it is a copy of the value. */
  readonly isTagged: boolean;
}

/**
 * A copy of the value as JSON can hold it, frozen as it is made. Every member is read exactly once, so that what is
 * written is what was checked, even if a getter or a proxy returns something else the second time.
 */
export function toPlain(message: unknown): Plain {
  if (message === undefined) throw refused([], "undefined");
  const copying: Copying = { path: [], above: [], isTagged: false };
  const plain = valueToPlain(message, copying);
  return { plain, isTagged: copying.isTagged };
}

function valueToPlain(value: unknown, copying: Copying): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "number":
      if (Object.is(value, -0)) return tagged(copying, "number", "-0");
      return Number.isFinite(value) ? value : tagged(copying, "number", String(value));
    case "bigint":
      return tagged(copying, "bigint", value.toString());
    case "object":
      return value === null ? null : objectToPlain(value, copying);
    default:
      throw refused(copying.path, `a ${typeof value}`);
  }
}

function objectToPlain(value: object, copying: Copying): unknown {
  const { path, above } = copying;
  if (above.includes(value)) throw refused(path, "a reference to an object that contains it");
  try {
    const isArray = Array.isArray(value);
    // Nearly every object is a plain record, so this comes first.
    if (!isArray && (ArrayBuffer.isView(value) || !isRecord(value))) return leafToPlain(value, copying);
    if (above.length >= maxDepth) throw refused(path, `nested deeper than ${maxDepth}`);
    above.push(value);
    const plain = isArray ? arrayToPlain(value, copying) : recordToPlain(value, copying);
    above.pop();
    return plain;
  } catch (cause) {
    if (cause instanceof TurnkeepError) throw cause;
    // The path has not been unwound, so it names the member that threw.
    throw refused(path, "a member that throws when it is read", cause);
  }
}

/** What is neither an array nor a record. */
function leafToPlain(value: object, copying: Copying): object {
  const { path } = copying;
  if (isBytes(value)) return tagged(copying, "Uint8Array", toBase64(value));
  if (answers(lengthOfBuffer, value))
    return tagged(copying, "ArrayBuffer", toBase64(new Uint8Array(value as ArrayBuffer)));
  if (value instanceof URL) return tagged(copying, "URL", value.href);
  if (!answers(timeOfDate, value)) throw refused(path, instanceOf(value));
  const time: number = timeOfDate.call(value as Date);
  if (Number.isNaN(time)) throw refused(path, "an invalid Date");
  return tagged(copying, "Date", new Date(time).toISOString());
}

const timeOfDate = Date.prototype.getTime;
const lengthOfBuffer = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")?.get;

/**
 * Whether a built-in method accepts the value. True for values of another realm, such as those that `structuredClone`
 * returns inside test runners, and false for an object that only has the prototype.
 */
function answers(method: ((this: never) => unknown) | undefined, value: object): boolean {
  try {
    method?.call(value as never);
    return method !== undefined;
  } catch {
    return false;
  }
}

const nameOfView = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get;

/** Also true for bytes of another realm, and false for an object that only has the prototype. */
function isBytes(value: object): value is Uint8Array {
  return ArrayBuffer.isView(value) && nameOfView?.call(value) === "Uint8Array";
}

function arrayToPlain(value: readonly unknown[], copying: Copying): unknown[] {
  const { path } = copying;
  if (!Array.isArray(Object.getPrototypeOf(value))) throw refused(path, instanceOf(value));
  const copy: unknown[] = [];
  for (let index = 0; index < value.length; index++) {
    path.push(index);
    const plain = valueToPlain(value[index], copying);
    if (plain === undefined) throw refused(path, "undefined in an array, which JSON cannot hold");
    copy.push(plain);
    path.pop();
  }
  if (Object.keys(value).length !== copy.length) throw refused(path, "an array with named members");
  refuseSymbolKeys(value, path);
  return Object.freeze(copy) as unknown[];
}

function recordToPlain(value: object, copying: Copying): object {
  const { path } = copying;
  refuseSymbolKeys(value, path);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    path.push(key);
    const plain = valueToPlain((value as Record<string, unknown>)[key], copying);
    path.pop();
    if (plain === undefined) continue;
    if (key === "__proto__") defineMember(copy, key, plain);
    else copy[key] = plain;
  }
  Object.freeze(copy);
  return Object.hasOwn(copy, tag) ? tagged(copying, "object", copy) : copy;
}

/** Sets a member as data, even where assigning would set the prototype. */
export function defineMember(of: object, key: string, value: unknown): void {
  Object.defineProperty(of, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Whether an object is plain data: without a prototype, or with the `Object.prototype` of this or another realm. */
export function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}

function refuseSymbolKeys(value: object, path: Path): void {
  const symbols = Object.getOwnPropertySymbols(value);
  if (symbols.length === 0) return;
  const isSeen = (key: symbol): boolean => Object.prototype.propertyIsEnumerable.call(value, key);
  if (symbols.some(isSeen)) throw refused(path, "an object with a symbol as a key");
}

function instanceOf(value: object): string {
  const { constructor: made } = Object.getPrototypeOf(value) as { constructor?: unknown };
  const name = typeof made === "function" ? made.name : "";
  return `an instance of ${/^[\w$]{1,60}$/.test(name) ? name : "a class"}`;
}

function tagged(copying: Copying, kind: string, value: unknown): object {
  copying.isTagged = true;
  return { [tag]: kind, value };
}

const shownSteps = 12;

function refused(path: Path, what: string, cause?: unknown): TurnkeepError {
  const shown = path.slice(0, shownSteps).map(stepText).join("");
  const rest = path.length > shownSteps ? "…" : "";
  return new TurnkeepError(
    "INVALID_MESSAGE",
    `message${shown}${rest} is ${what}; it could not be read again as it is. Convert it to plain data first.`,
    { cause },
  );
}

function stepText(step: string | number): string {
  if (typeof step === "number") return `[${step}]`;
  return /^[A-Za-z_$][\w$]{0,39}$/.test(step) ? `.${step}` : `[${quoted(step.slice(0, 40))}]`;
}
