import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { ProviderRule, RuleName } from "../src/profiles.ts";
import { allProfiles } from "./all-profiles.ts";

/** The rules of the providers that have a column. */
const repairs: Readonly<Record<Exclude<RuleName, "calls-apart">, string>> = {
  "not-empty": "nothing: an empty memory is shown empty",
  "tool-results": "results stand behind their calls; a missing one says that the call was interrupted",
  "provider-calls": "what another provider ran itself goes, and half a call",
  "results-first": "results move before what the user says beside them",
  "results-in-order": "results move into the order of their calls",
  "result-text": "a sentence says that the tool said nothing, or failed and said nothing",
  "result-media": "another medium becomes a text in its place",
  "system-first": "a system message behind others becomes a note in a message of the user's",
  "first-message": "a sentence of the user's opens it",
  "last-message": "a sentence of the user's asks the model to go on",
  "instruction-place":
    "a system message moves behind what the user says next, or becomes a note of the user's",
  "settings-apart": "two messages in a row that only change the effort or the format become one",
  "same-role": "neighbours become one message",
  "answer-after-results": "a sentence of the model's stands between results and the user",
  unsent: "an empty list of calls goes, and an image that was not made",
  "extra-members": "members that only an answer has go",
  "call-input": "another input becomes the member `rawInvalidInput` of one",
  "empty-text": "empty texts go; an empty message of the user's says so",
  "call-ids": "other ids become nine letters and digits, unique where they must be",
  "tool-names": "each other character becomes `_`, and 64 are kept",
  reasoning: "reasoning that may not come back goes",
  "reasoning-alone":
    "reasoning alone begins the answer behind it or goes, and so does reasoning that ends an answer",
  "answer-files": "files that the model made go",
  "document-with-text": "a sentence stands beside the document",
  "document-names": "a number stands before a name that an earlier document has",
  messages: "the window evicts what is beyond",
  calls: "`WINDOW_OVERFLOW`",
  "text-length": "`WINDOW_OVERFLOW`",
  images: "`WINDOW_OVERFLOW`",
  documents: "`WINDOW_OVERFLOW`",
};

function cellOf(rule: ProviderRule | undefined): string {
  if (rule === undefined) return "";
  switch (rule.rule) {
    case "same-role":
      return rule.roles.join(", ");
    case "empty-text":
    case "result-text":
      return rule.which;
    case "provider-calls":
      if (rule.own === undefined) return "none";
      return rule.answered === true ? "own, answered" : "own";
    case "tool-results":
      return rule.joins === true ? "or behind joined answers" : "yes";
    case "last-message":
      return rule.paused === true ? "or paused" : "yes";
    case "first-message":
      return rule.which ?? "yes";
    case "call-ids":
      return `\`${rule.pattern.source}\`${rule.unique === undefined ? "" : `, once in ${rule.unique === "answer" ? "an" : "a"} ${rule.unique}`}`;
    case "extra-members":
      return Object.keys(rule.members).join(", ");
    case "result-media":
      return `\`${rule.kept.source}\``;
    case "tool-names":
      return `\`${rule.pattern.source}\``;
    case "reasoning":
      return rule.kept;
    default:
      return "limit" in rule ? rule.limit.toLocaleString("en") : "yes";
  }
}

it("docs/provider-profiles.md has the table of the rules as they are", () => {
  const document = readFileSync(new URL("../../../docs/provider-profiles.md", import.meta.url), "utf8");
  const rows = Object.entries(repairs).map(([name, repair]) => {
    const cells = allProfiles.map(({ rules }) => cellOf(rules.find(({ rule }) => rule === name)));
    return `| ${[name, repair, ...cells].join(" | ")} |`;
  });
  const table = document
    .split("\n")
    .filter((line) => /^\| [a-z-]+ \|/.test(line) && !line.startsWith("| rule |"));
  expect(table).toEqual(rows);
});
