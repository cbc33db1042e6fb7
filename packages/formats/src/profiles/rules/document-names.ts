import type { MessageFormat } from "@turnkeep/core";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/** No two documents of a request have the same name. */
export type DocumentNames = Rule<"document-names">;

export const documentNames: RuleKind<DocumentNames> = {
  fields: {},
  repair: withDocumentNames,
  breaks: changedBy(withDocumentNames, "a document has the name of another one before it"),
};

/**
 * The messages with a number before the name of each document whose name an earlier one has. A name goes by what a
 * provider is sent of it at least: its letters and digits, without the extension. One without any is not sent.
 */
function withDocumentNames<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const { renameDocuments } = format;
  if (renameDocuments === undefined) return messages;
  const taken = new Set<string>();
  /** By what is sent of a name, the next number to try: the lower ones are taken for good. */
  const numbers = new Map<string, number>();
  const unique = (name: string): string => {
    if (sentOf(name) === "") return name;
    const sent = sentOf(name);
    let free = name;
    let number = numbers.get(sent) ?? 2;
    for (; taken.has(sentOf(free)); number++) free = `(${number}) ${name}`;
    numbers.set(sent, number);
    taken.add(sentOf(free));
    return free;
  };
  return messages.map((message) => renameDocuments(message, unique));
}

/** Bedrock cuts a name at 200 characters. */
function sentOf(name: string): string {
  return name
    .replace(/\.[^.]*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")
    .slice(0, 190);
}
