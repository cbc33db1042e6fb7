import { asText } from "@turnkeep/core/format-kit";
import { describe } from "vitest";
import { type BedrockMessage, bedrockFormat } from "../src/bedrock.ts";
import { bedrockMessage, messageOfEachBlock } from "./arbitrary-bedrock.ts";
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

const json = ({ content }: BedrockMessage): string => asText(content);

/** What the API found goes back whole. */
function hasFound(message: BedrockMessage): boolean {
  return /"(searchResult|citationsContent)"/.test(json(message));
}

/** With a name and a context of its own. */
function hasDocument(message: BedrockMessage): boolean {
  return json(message).includes('"document"');
}

describe("bedrockFormat, for any message", () => {
  testProperties({
    format: bedrockFormat,
    message: bedrockMessage,
    kinds: messageOfEachBlock,
    hasTextInMedia: hasDocument,
  });
});

/** Without signatures that stand alone, and what the API encrypted. */
function readable(message: BedrockMessage): BedrockMessage {
  const content = (message.content ?? []).filter((block) => {
    if (!("reasoningContent" in block)) return true;
    const reasoning = block.reasoningContent;
    if (!("reasoningText" in reasoning)) return false;
    const { text, signature } = reasoning.reasoningText;
    return text !== "" || signature === undefined;
  });
  return { ...message, content };
}

describe("bedrockFormat, for any message that is shaped", () => {
  testReshaping({
    format: bedrockFormat,
    message: bedrockMessage,
    readable,
    nestsText: (message) =>
      hasDocument(message) || hasFound(message) || json(message).includes('"guardContent"'),
  });
});
