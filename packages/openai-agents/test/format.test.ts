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
