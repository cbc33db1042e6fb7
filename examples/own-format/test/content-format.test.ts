import { readFileSync } from "node:fs";
import { checkFormat } from "@turnkeep/conformance";
import { createChatMemory, inMemoryStore } from "@turnkeep/core";
import { redact } from "@turnkeep/core/processors";
import { expect, test } from "vitest";
import { type Content, contentFormat } from "../src/content-format.ts";

const call = (id: string): Content => ({
  role: "model",
  parts: [{ functionCall: { id, name: "weather", args: { city: "Oslo" } } }],
});
const response = (id: string, response: object = { degrees: 4 }): Content => ({
  role: "user",
  parts: [{ functionResponse: { id, name: "weather", response } }],
});
const said = (role: Content["role"], text: string): Content => ({ role, parts: [{ text }] });

test("it keeps what a format promises", () => {
  checkFormat(contentFormat, [
    said("system", "You are brief."),
    said("user", "Weather in Oslo?"),
    call("1"),
    response("1"),
    { role: "model", parts: [{ text: "It is cold.", thought: true }, { text: "4 °C." }, ...call("2").parts] },
    { role: "user", parts: [{ text: "And this?" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
  ]);
});

test("a memory over it evicts whole steps, and shows a call that a crash left open as interrupted", async () => {
  const store = inMemoryStore();
  const memory = createChatMemory<Content>({
    id: "chat-1",
    store,
    format: contentFormat,
    window: { maxMessages: 3 },
  });
  await memory.add(said("user", "Oslo?"), call("1"), response("1"));
  await memory.add(call("2"), said("user", "Are you there?"));
  const shown = await memory.messages();
  expect(shown[0]).toEqual(call("2"));
  expect(JSON.stringify(shown[1])).toContain("interrupted");
  expect(shown[2]).toEqual(said("user", "Are you there?"));
});

test("processors work on it", async () => {
  const processors = [redact({ patterns: [/\d{4}/g], replacement: "****" })];
  const memory = createChatMemory<Content>({ format: contentFormat, processors });
  await memory.add(said("user", "PIN?"), call("1"), response("1", { pin: "1234" }));
  expect(await memory.messages()).toEqual([said("user", "PIN?"), call("1"), response("1", { pin: "****" })]);
});

test("it has 60 lines or fewer", () => {
  const source = readFileSync(new URL("../src/content-format.ts", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(60);
});
