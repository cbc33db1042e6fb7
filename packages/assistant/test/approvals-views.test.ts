import { type ModelMessageLike, modelMessageFormat } from "@turnkeep/core";
import { anthropic, mistral, openai, type ProfileRules, strict, validate } from "@turnkeep/formats/profiles";
import { expect, test } from "vitest";
import { conversation, decided, decision, id } from "./approval-support.ts";
import { assistant, calling } from "./script.ts";

const profiles: readonly (readonly [string, ProfileRules])[] = [
  ["anthropic", anthropic],
  ["openai", openai],
  ["mistral", mistral],
  ["strict", strict],
];
const asking = calling(["call00001", "pay"], ["call00002", "look"], ["call00003", "send"]);
const states = [
  ["while its calls wait", []],
  ["behind an approval", ["call00001"]],
  ["behind both approvals", ["call00001", "call00003"]],
] as const;

test.each(profiles.flatMap(([name, profile]) => states.map((state) => [name, ...state, profile] as const)))(
  "the profile %s takes a turn %s, whose calls are not interrupted",
  async (_, __, callIds, profile) => {
    for (const approved of [true, false]) {
      const { process } = conversation({ profile });
      const waiting = await process(asking).chat.chat("Go", { id });
      const responses = callIds.map((callId) => decision(waiting, callId, approved));
      // As it is before a tool has run.
      if (responses.length > 0) await process().memory.add(decided(responses));
      const { memory } = process();
      const view = await memory.messages();
      expect(validate<ModelMessageLike>(view, profile, { format: modelMessageFormat })).toEqual([]);
      expect(JSON.stringify(view)).not.toContain("interrupted");
      // The user moves on: calls that nobody decided stay as they were shown.
      const { chat, model } = process(assistant("Fine."));
      await chat.chat("Never mind.", { id: "q-2" });
      const sent = model.requests[0]?.messages ?? [];
      expect(validate<ModelMessageLike>(sent, profile, { format: modelMessageFormat })).toEqual([]);
      const behind = await memory.messages();
      if (responses.length === 0) expect(behind.slice(0, view.length)).toEqual(view);
      else expect(behind.slice(0, 2)).toEqual(view.slice(0, 2));
    }
  },
);

test.each(profiles)("the profile %s shows an approved call that runs as open", async (_, profile) => {
  const views: string[] = [];
  const look = async (): Promise<number> => views.push(JSON.stringify(await process().memory.messages()));
  const pay = { inputSchema: {}, needsApproval: true, execute: look };
  const { process } = conversation({ profile, tools: { pay } });
  const waiting = await process(asking).chat.chat("Go", { id });
  await process(assistant("Done.")).chat.chat({ approvals: [decision(waiting, "call00001", true)] }, { id });
  expect(views).toHaveLength(1);
  expect(views[0]).not.toContain("interrupted");
});
