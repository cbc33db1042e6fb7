import { user } from "@turnkeep/core";
import { expect, test } from "vitest";
import { conversation } from "../src/corpus.ts";
import { byHand } from "../src/window/by-hand.ts";
import { type Conversation, floor, others, ours, withFreeCounter } from "../src/window/contenders.ts";
import { Lane } from "../src/window/lane.ts";

const messages = Array.from({ length: 30 }, (_, index) => user(`Message ${index}`));

function counted(): Conversation & { calls: number } {
  return {
    messages,
    counts: messages.map(() => 10),
    maxTokens: 100,
    calls: 0,
    count() {
      this.calls++;
      return 10;
    },
    countText: () => 10,
  };
}

test("the floor shows what fits, and counts what is new", async () => {
  const conversation = counted();
  const { convert, step } = await floor.open({
    ...conversation,
    count: () => conversation.count(messages[0] ?? user("")),
  });
  expect(await step(convert(user("New")))).toBe(10);
  expect(await step(convert(user("Newer")))).toBe(10);
  expect(conversation.calls).toBe(2);
});

test.each([ours, byHand, ...others])("$name counts what is new, once", async (contender) => {
  const conversation = counted();
  const { convert, step } = await contender.open({
    ...conversation,
    count: () => conversation.count(messages[0] ?? user("")),
  });
  expect(conversation.calls).toBe(30);
  const shown = await step(convert(user("New")));
  expect(shown).toBeGreaterThanOrEqual(7);
  expect(shown).toBeLessThanOrEqual(10);
  expect(conversation.calls).toBe(31);
});

test("the memory by hand shows as many messages as ours at every step", async () => {
  const size = (message: object): number => JSON.stringify(message).length;
  const given = { messages: [], counts: [], maxTokens: 9_000, count: size, countText: () => 0 };
  const [a, b] = [await ours.open(given), await byHand.open(given)];
  for (const message of conversation(300)) expect(await b.step(message)).toBe(await a.step(message));
});

test("the memory by hand refuses what JSON cannot hold, and what is no message", async () => {
  const { step } = await byHand.open(counted());
  const date = { role: "user", content: [{ type: "text", text: "x", at: new Date() }] };
  await expect(step(date)).rejects.toThrow("JSON");
  await expect(step({ role: "nobody", content: "x" })).rejects.toThrow("no message");
});

test("a free counter counts each message as the mean, and asks nobody", async () => {
  const conversation = { ...counted(), counts: [4, 8], count: () => expect.fail("counted") };
  const { open } = withFreeCounter({
    name: "asking",
    open: ({ counts, count }) => ({
      convert: (message) => message,
      step: () => counts.length + count(user("x")),
    }),
  });
  const { step } = await open(conversation);
  expect(step(user("x"))).toBe(8);
});

test("a lane begins anew before its conversation is twice as long as it is said to be", async () => {
  let opened = 0;
  const lengths: number[] = [];
  const contender = {
    name: "counting",
    open: ({ messages }: Conversation) => {
      opened++;
      let length = messages.length;
      return { convert: (message: unknown) => message, step: () => lengths.push(++length) };
    },
  };
  const lane = new Lane(contender, counted());
  for (let step = 0; step < 100; step++) await lane.step(user("More"));
  expect(Math.max(...lengths)).toBeLessThan(60);
  expect(opened).toBeGreaterThan(2);
});
