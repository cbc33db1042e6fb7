import { describe, expect, it } from "vitest";
import { convert } from "../src/convert.ts";
import { samples } from "./conversion-samples.ts";
import { conversionOf, names } from "./conversions.ts";

const introduction = `# What survives between formats

\`convert\` of \`@turnkeep/formats/convert\` answers messages in another format, and \`lost\`: what has no place there, by
message and kind. This page is made from what it does: \`vitest run test/convert-document.test.ts -u\` in
\`packages/formats\` writes it, and the tests fail where it no longer holds.

Each row is a kind of part. **yes**: it arrives, and nothing is reported. **without …**: it arrives, and what is named is
reported. **–**: it does not arrive, and is reported.

Everywhere: texts, tool calls and results with their ids, images, PDFs that the message carries, and system messages come back
from every other format as they were, but for PDFs in Ollama's, and images behind a link in Bedrock's and Ollama's. Not reported are \`id\`, \`status\` and \`state\` of messages and items. A call without a name
or an id, which no API takes, is lost with its result.

What is read and written in its own way:

- **OpenAI** chat: a developer's message becomes the system's. Custom calls become calls whose input is a text.
  \`function_call\` and its result get an id. Reasoning is not written, because the API does not take it back.
- **Responses**: items that the model put out in a row are one message of others. Reasoning is written where it names its item.
- **Anthropic**: thinking is written where it has its signature. Results in a row share a message; what the user says beside
  results comes behind them. An input that is no object is wrapped as \`{ input }\`. Documents of blocks and search results are
  read as their texts and images.
- **Gemini**: calls without an id get one. A response of nothing but \`output\` or \`error\` is what the tool said; any other is
  JSON. Signatures travel as \`google.thoughtSignature\`. An input that is no object is wrapped as \`{ input }\`.
- **Bedrock**: reasoning is written where it has its signature; media where the message carries them or they stand in S3.
  Documents of blocks are read as their texts. An input that is no object is wrapped as \`{ input }\`.
- **Ollama**: a message has one text, so that a user's texts become messages, and an answer's one. Calls without an id get one.
- **UIMessage**: read step by step, as the SDK sends it; an answer with its calls, their results and what follows them is
  written as one message. Ids are \`message-1\` and so on, or what \`generateId\` answers.
- **LangChain4j**: an answer has one text and one thinking, so that several become one. Calls without an id get one.
- **ModelMessage**: what only one provider knows stands in \`providerOptions\`, under the names that the AI SDK's packages read.
`;

function cell(messages: readonly unknown[], from: string, to: string): string {
  const { messages: written, lost } = convert(messages, { from: conversionOf(from), to: conversionOf(to) });
  if (written.length === 0) return "–";
  const kinds = new Set(lost.map(({ kind }) => `\`${kind}\``));
  return kinds.size === 0 ? "yes" : `without ${[...kinds].join(", ")}`;
}

function table(from: string): string {
  const targets = names.filter((name) => name !== from);
  const rows = Object.entries(samples[from] ?? {}).map(
    ([kind, messages]) => `| ${kind} | ${targets.map((to) => cell(messages, from, to)).join(" | ")} |`,
  );
  const head = [`| from ${from} | ${targets.join(" | ")} |`, `|---|${targets.map(() => "---|").join("")}`];
  return [...head, ...rows].join("\n");
}

describe("docs/conversions.md", () => {
  it("tells what survives", async () => {
    const document = [introduction, ...names.map((name) => `## ${name}\n\n${table(name)}\n`)].join("\n");
    await expect(document).toMatchFileSnapshot("../../../docs/conversions.md");
  });

  it("tells of everything that does not arrive", () => {
    for (const from of names) {
      for (const messages of Object.values(samples[from] ?? {})) {
        for (const to of names) {
          const { messages: written, lost } = convert(messages, {
            from: conversionOf(from),
            to: conversionOf(to),
          });
          if (written.length === 0) expect(lost).not.toEqual([]);
        }
      }
    }
  });

  it.each(names)("has a valid sample of each kind of %s", (name) => {
    const { format } = conversionOf(name);
    for (const messages of Object.values(samples[name] ?? {}))
      for (const message of messages) expect(() => format.encode(message)).not.toThrow();
  });
});
