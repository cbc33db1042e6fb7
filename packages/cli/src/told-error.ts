import { isTurnkeepError } from "@turnkeep/core";
import { errorCode, redactUrl } from "@turnkeep/core/store-kit";
import { oneLine } from "./terminal/controls.ts";

/** A driver's error may wrap the system's, and that one those of each address that was tried. */
const maxCauses = 6;

/**
 * An error for people: what went wrong in one line, then what caused it, a line each; of an error that nobody foresaw,
 * where it was thrown too. Passwords of these addresses, and of any other, are not shown.
 */
export function toldError(error: unknown, addresses: readonly string[]): string {
  const redact = redactorOf(addresses);
  const code = isTurnkeepError(error) && error.code !== "INVALID_OPTION" ? `${error.code}: ` : "";
  const first = `turnkeep: ${code}${redact(messageOf(error))}`;
  const causes = causesOf(error).map((cause) => redact(withCode(cause)));
  const frames = isTurnkeepError(error) ? [] : framesOf(error);
  return [
    first,
    ...causes.filter((cause) => !first.includes(cause)).map((cause) => `  cause: ${cause}`),
    ...frames.map((frame) => `    ${redact(frame)}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return isTurnkeepError(error) ? error.message : String(error);
}

function causesOf(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  const waiting = behind(error);
  for (
    let cause = waiting.shift();
    cause !== undefined && found.length < maxCauses;
    cause = waiting.shift()
  ) {
    if (found.includes(cause)) continue;
    found.push(cause);
    waiting.push(...behind(cause));
  }
  // One that only holds others says nothing itself.
  return found.filter((cause) => !(cause instanceof Error) || cause.message !== "");
}

function behind(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [];
  const several: unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error.cause, ...several].filter((cause) => cause !== undefined && cause !== null);
}

function withCode(cause: unknown): string {
  const code = errorCode(cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  return code === "" || message.includes(code) ? message : `${code}: ${message}`;
}

/** What stands behind the message, which may be made to look like them. */
function framesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error) || error.stack === undefined) return [];
  const { stack, message } = error;
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length).split("\n");
  return frames.filter((frame) => /^\s+at /.test(frame));
}

/** In one line. A database may quote a password apart from its address, which this does not know. */
function redactorOf(addresses: readonly string[]): (text: string) => string {
  const passwords = addresses.flatMap(passwordsIn);
  return (text) => {
    const hidden = passwords.reduce((rest, password) => rest.replaceAll(password, "***"), text);
    return oneLine(hidden).replace(/[a-z][a-z\d+.-]*:\/\/\S+/gi, redactUrl);
  };
}

/** As it is written and as it is meant. What is also the user's, the host's or the database's name is no secret. */
function passwordsIn(address: string): string[] {
  const [, user, raw = "", rest = ""] = /[a-z][a-z\d+.-]*:\/\/([^:@/]*):(.+)@([^@]*)$/is.exec(address) ?? [];
  if (raw === "" || [user, ...rest.split(/[:/?]/)].includes(raw)) return [];
  return [raw, decoded(raw)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
