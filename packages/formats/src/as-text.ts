/** A value as a model reads it: a string as it is, anything else as JSON. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return (
    JSON.stringify(value, (_key, member: unknown) =>
      typeof member === "bigint" ? String(member) : member,
    ) ?? ""
  );
}
