import type { LangChain4jMessage } from "./messages.ts";

/** What a message without these members has all the same. */
export function defaultsOf({ type }: LangChain4jMessage): Record<string, unknown> {
  return type === "AI" ? { toolExecutionRequests: [], attributes: {} } : { attributes: {} };
}

/** LangChain4j writes empty attributes of the other messages only. */
export function leavesOutEmptyAttributes(type: string): boolean {
  return type === "SYSTEM" || type === "USER";
}

/** The members that are given, and the defaults for the others. */
export function withDefaults(defaults: Record<string, unknown>, value: unknown): Record<string, unknown> {
  const given = Object.entries(value as object).filter(([, member]) => member !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
