import { withMember } from "@turnkeep/core/format-kit";

/** The message with its results before its other parts, which are the list under `member`. */
export function withResultsFirst<M extends object, P>(
  message: M,
  member: string,
  parts: readonly P[],
  isResult: (part: P) => boolean,
): M {
  const isFirst = parts.slice(0, parts.findLastIndex(isResult) + 1).every(isResult);
  if (isFirst) return message;
  return withMember(message, member, [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]);
}
