import type { Medium } from "../conversion/neutral.ts";

/** What a document is called that has no name. */
const nameless = "document";

/** The name of a document: the API takes letters, digits, hyphens, brackets and single blanks. */
export function nameOfDocument({ filename }: Medium): string {
  const name = (filename ?? nameless)
    .replace(/\.[a-z0-9]+$/i, "")
    .replace(/[^a-zA-Z0-9\s()[\]-]/g, "-")
    .replace(/\s+/g, " ")
    .trim();
  return name || nameless;
}

/** The file name of a document with that name; none where it had none. */
export function filenameOfDocument(name: unknown, format: unknown): string | undefined {
  if (typeof name !== "string" || name === nameless) return undefined;
  return typeof format === "string" ? `${name}.${format}` : name;
}
