import type { AgentInputItem } from "@openai/agents-core";
import { checkFormat } from "@turnkeep/conformance";
import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { redact, stripReasoning } from "@turnkeep/core/processors";
import { openaiResponses, strict, validate } from "@turnkeep/formats/profiles";
import { expect, it } from "vitest";
import { agentsFormat } from "../src/index.ts";
import { samples } from "./samples.ts";

const { question, call, result, reasoning, answer, web } = samples as Record<string, AgentInputItem>;

it("keeps what a format promises", () => {
  // These two say themselves that the provider put them out, and keep their ids; the check takes all results for ours.
  const { serversResult: _, programResult: __, ...others } = samples;
  checkFormat(agentsFormat, Object.values(others));
});

it.each(Object.entries(samples))("brings back %s to the last member", (_, item) => {
  expect(agentsFormat.decode(agentsFormat.encode(item))).toEqual(item);
});

it("tells what the provider runs, and keeps the ids that it gave", () => {
  for (const name of ["serversSearch", "program", "web"] as const) {
    expect(agentsFormat.toolCalls(samples[name] as AgentInputItem)).toMatchObject([
      { providerExecuted: true },
    ]);
  }
  for (const name of ["serversResult", "programResult"] as const) {
    const item = samples[name] as AgentInputItem;
    expect(agentsFormat.renameCalls?.(item, (id) => `${id}x`)).toBe(item);
  }
});

it.each([
  ["no item", "Hello", /Give an item/],
  ["another role", { role: "developer", content: "private" }, /as role/],
  ["content that is no list", { role: "user", content: 7 }, /as content/],
  ["a part without a type", { role: "user", content: [{ text: "private" }] }, /content\[0\]/],
  ["a part without its text", { role: "user", content: [{ type: "input_text" }] }, /content\[0\]\.text/],
  ["a call without an id", { ...call, callId: "" }, /callId/],
  ["a call without a name", { ...call, name: undefined }, /name/],
  ["a result without an output", { ...result, output: undefined }, /output/],
  ["a screenshot that is none", { ...samples.screenshot, output: "private" }, /output/],
])("refuses %s", (_, item, text) => {
  const encode = () => agentsFormat.encode(item as never);
  expect(encode).toThrow(text);
  expect(encode).not.toThrow(/private/);
  try {
    encode();
  } catch (error) {
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
  }
});

it("shows a provider what it accepts, with a result of its kind for each call that was cut off", async () => {
  const memory = createChatMemory({ format: agentsFormat });
  const open = ["call", "computer", "shell", "patch", "search"].map(
    (name) => samples[name] as AgentInputItem,
  );
  await memory.add(question as AgentInputItem, ...open);
  for (const profile of [openaiResponses, strict]) {
    const view = await memory.messages({ profile, extra: [{ role: "user", content: "Go on" }] });
    expect(view.flatMap((item) => agentsFormat.toolResults(item).map(({ id }) => id))).toEqual(
      view.flatMap((item) => agentsFormat.toolCalls(item).map(({ id }) => id)),
    );
    for (const item of view) agentsFormat.encode(item);
    expect(validate(view, profile, { format: agentsFormat })).toEqual([]);
  }
});

it("leaves out reasoning with the ids that are bound to it", async () => {
  const memory = createChatMemory({ format: agentsFormat, processors: [stripReasoning()] });
  await memory.add(
    question as AgentInputItem,
    reasoning as AgentInputItem,
    web as AgentInputItem,
    answer as AgentInputItem,
  );
  const view = await memory.messages();
  expect(view.map(({ type }) => type)).toEqual([undefined, "message"]);
  expect(view[1]).not.toHaveProperty("id");
});

it("changes texts wherever a model reads them", async () => {
  const memory = createChatMemory({
    format: agentsFormat,
    processors: [redact({ patterns: [/°C/], replacement: "…" })],
  });
  await memory.add(...["call", "result", "textResult"].map((name) => samples[name] as AgentInputItem));
  expect(JSON.stringify(await memory.messages())).not.toContain("°C");
});
