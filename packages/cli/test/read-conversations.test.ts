import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { shippedConversations } from "../src/conversations.ts";
import { type Line, readConversation, readConversations } from "../src/replay/read-conversations.ts";
import { testFile, testFolder, toolConversation } from "./folder.ts";

async function all(...files: string[]): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of readConversations(files)) lines.push(line);
  return lines;
}

const hello = (id: string, content = "secret") => ({ id, messages: [{ role: "user", content }] });

describe("readConversations", () => {
  it("reads the conversations that ship with the package: both shapes, six languages", async () => {
    const lines = await all(...shippedConversations());
    expect(lines.map(({ conversation }) => [conversation?.id, conversation?.kind])).toEqual([
      ["museum-trip-de", "ai-sdk"],
      ["library-search-es", "ai-sdk"],
      ["telescope-night-en", "ai-sdk"],
      ["bakery-order-en", "openai-chat"],
      ["roof-garden-ja", "openai-chat"],
      ["clinic-visit-ar", "openai-chat"],
    ]);
  });

  it("passes over blank lines and names bad ones by their number, without their content", async () => {
    const file = testFile([
      hello("a"),
      "",
      '{"id": "b", "messages": [secret]}',
      "   ",
      hello("a"),
      { id: "c", messages: [{ role: "user" }] },
      hello("d"),
    ]);
    const lines = await all(file);
    expect(lines.map((line) => line.conversation?.id ?? [line.bad?.line, line.bad?.problem])).toEqual([
      "a",
      [3, expect.stringContaining("not JSON")],
      [5, "its id is taken by input.jsonl, line 1"],
      [6, expect.stringContaining("message 1: ")],
      "d",
    ]);
    expect(JSON.stringify(lines.map((line) => line.bad))).not.toContain("secret");
  });

  it("reads lines that end in CR LF, begin with a byte order mark, or do not end", async () => {
    const crlf = testFile([`\ufeff${JSON.stringify(hello("a"))}`, hello("b")], "\r\n");
    const open = testFile([hello("c")], "");
    expect((await all(crlf, open)).map(({ conversation }) => conversation?.id)).toEqual(["a", "b", "c"]);
  });

  it("names a line that is no UTF-8, and reads the others", async () => {
    const file = join(testFolder(), "latin.jsonl");
    const latin1 = Buffer.from(JSON.stringify(hello("b", "Grüße")), "latin1");
    writeFileSync(
      file,
      Buffer.concat([Buffer.from(`${JSON.stringify(hello("a"))}\n`), latin1, Buffer.from("\n")]),
    );
    const lines = await all(file);
    expect(lines.map(({ conversation, bad }) => conversation?.id ?? [bad?.line, bad?.problem])).toEqual([
      "a",
      [2, "it is not UTF-8"],
    ]);
  });

  it("keeps a line together that holds U+2028 or is cut by a read in the middle of a character", async () => {
    const content = `a\u2028b${"日本語".repeat(60_000)}`;
    const lines = await all(testFile([hello("a", content), hello("b")]));
    expect(lines[0]?.conversation?.messages).toEqual([{ role: "user", content }]);
    expect(lines[1]?.conversation?.id).toBe("b");
  });

  it.each(["missing.jsonl", "."])("says that %s is no file to read", async (name) => {
    const error = await all(`${testFolder()}/${name}`).catch((reason: unknown) => reason);
    expect(isTurnkeepError(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain("Name a JSON Lines file.");
  });
});

describe("readConversation", () => {
  it.each([
    ["[]", "it is not an object"],
    ["null", "it is not an object"],
    ['{"messages":[]}', 'it has no "id"'],
    ['{"id":7,"messages":[]}', 'its "id" is not a text'],
    ['{"id":"","messages":[]}', 'its "id" is empty'],
    [`{"id":"${"x".repeat(401)}","messages":[]}`, "longer than 400 bytes"],
    ['{"id":"\\ud800","messages":[]}', "no well-formed text"],
    ['{"id":"a"}', 'its "messages" are not a list'],
    ['{"id":"a","messages":[]}', 'its "messages" are not a list'],
    ['{"id":"a","messages":["hi"]}', "message 1 is not an object"],
    ['{"id":"a","messages":[{"role":"robot","content":"secret"}]}', "message 1: "],
  ])("says of %s: %s", (line, problem) => {
    const read = readConversation(line);
    expect(read).toEqual(expect.stringContaining(problem));
    expect(read).not.toContain("secret");
  });

  const call = { type: "tool-call", toolCallId: "1", toolName: "t", input: {} };
  const output = { type: "text", value: "r" };
  it.each([
    ["plain texts", [{ role: "user", content: "hi" }], "ai-sdk"],
    ["calls of OpenAI", toolConversation("a", 1).messages, "openai-chat"],
    ["a developer message", [{ role: "developer", content: "d" }], "openai-chat"],
    [
      "an image of OpenAI",
      [{ role: "user", content: [{ type: "image_url", image_url: { url: "u" } }] }],
      "openai-chat",
    ],
    [
      "a file of OpenAI",
      [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }],
      "openai-chat",
    ],
    ["calls of the AI SDK", [{ role: "assistant", content: [call] }], "ai-sdk"],
    [
      "results of the AI SDK",
      [{ role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "t", output }] }],
      "ai-sdk",
    ],
    [
      "a file of the AI SDK",
      [{ role: "user", content: [{ type: "file", data: "aGk=", mediaType: "text/plain" }] }],
      "ai-sdk",
    ],
  ])("takes %s for what they are", (_what, messages, kind) => {
    expect(readConversation(JSON.stringify({ id: "a", messages }))).toMatchObject({ kind });
  });

  it("refuses a conversation in both shapes and names one message of each", () => {
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: [call] },
      { role: "assistant", content: null, tool_calls: [] },
    ];
    expect(readConversation(JSON.stringify({ id: "a", messages }))).toBe(
      "it mixes AI SDK messages (message 2) with OpenAI chat messages (message 3)",
    );
  });
});
