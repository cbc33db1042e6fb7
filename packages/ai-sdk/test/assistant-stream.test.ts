import { gate } from "@turnkeep/store-tests/gate";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { type AssistantEvent, toUIMessageStream } from "../src/index.ts";

async function* happening(...events: (AssistantEvent | Error)[]): AsyncGenerator<AssistantEvent> {
  for (const event of events) {
    if (event instanceof Error) throw event;
    yield event;
  }
}

/** What a browser makes of a turn, and what it is told of errors. */
async function shown(...events: (AssistantEvent | Error)[]) {
  const errors: unknown[] = [];
  let message: UIMessage | undefined;
  const stream = toUIMessageStream(happening(...events), { messageId: "a-1" });
  for await (const next of readUIMessageStream({ stream, onError: (error) => errors.push(error) }))
    message = next;
  expect(message?.id).toBe("a-1");
  return {
    parts: JSON.parse(JSON.stringify(message?.parts)),
    errors: errors.map((error) => (error as Error).message),
  };
}

const call = (id: string) => ({ id, name: "look", input: { city: "Oslo" } });

test("a turn with tools is shown step by step", async () => {
  const { parts, errors } = await shown(
    { type: "reasoning", text: "Hm" },
    { type: "text", text: "I " },
    { type: "text", text: "look." },
    { type: "tool-call", call: call("c-1") },
    { type: "tool-call", call: call("c-2") },
    { type: "tool-result", result: { toolCallId: "c-2", output: { message: "away" }, isError: true } },
    { type: "tool-result", result: { toolCallId: "c-1", output: "seen", isError: false } },
    { type: "text", text: "Done." },
    { type: "finish" },
  );
  expect(errors).toEqual([]);
  const input = { city: "Oslo" };
  expect(parts).toMatchObject([
    { type: "step-start" },
    { type: "reasoning", text: "Hm", state: "done" },
    { type: "text", text: "I look.", state: "done" },
    { type: "tool-look", toolCallId: "c-1", state: "output-available", input, output: "seen" },
    { type: "tool-look", toolCallId: "c-2", state: "output-error", errorText: '{"message":"away"}' },
    { type: "step-start" },
    { type: "text", text: "Done.", state: "done" },
  ]);
});

test("a call that waits for the user is shown as waiting, and one that was denied as denied", async () => {
  const request = { approvalId: "ap-1", call: call("c-1") };
  const waiting = await shown({ type: "tool-approval-request", request }, { type: "finish" });
  expect(waiting.parts[1]).toMatchObject({ state: "approval-requested", approval: { id: "ap-1" } });
  const denied = await shown(
    { type: "tool-call", call: call("c-1") },
    { type: "tool-result", result: { toolCallId: "c-1", output: "denied", isError: true, isDenied: true } },
    { type: "finish" },
  );
  expect(denied.parts[1]).toMatchObject({ state: "output-denied" });
});

test("a turn that fails tells no more than that", async () => {
  const { parts, errors } = await shown({ type: "text", text: "I " }, new Error("password"));
  expect(errors).toEqual(["An error occurred."]);
  expect(parts).toMatchObject([{ type: "step-start" }, { type: "text", text: "I " }]);
});

test("a browser that leaves ends the turn", async () => {
  let isLeft = false;
  async function* endless(): AsyncGenerator<AssistantEvent> {
    try {
      for (;;) yield { type: "text", text: "on " };
    } finally {
      isLeft = true;
    }
  }
  const reader = toUIMessageStream(endless()).getReader() as ReadableStreamDefaultReader<UIMessageChunk>;
  for (let chunk = 0; chunk < 4; chunk++) await reader.read();
  await reader.cancel();
  expect(isLeft).toBe(true);
});

test("so does one that leaves while the turn waits for an event", async () => {
  const waits = gate();
  const over = gate();
  // As an assistant's stream: its `return` ends what it waits for.
  const events: AsyncIterableIterator<AssistantEvent> = {
    [Symbol.asyncIterator]: () => events,
    async next() {
      waits.open();
      await over.opened;
      return { done: true, value: undefined };
    },
    async return() {
      over.open();
      return { done: true, value: undefined };
    },
  };
  const stream = toUIMessageStream(events);
  const reader = stream.getReader();
  await reader.read();
  await waits.opened;
  await reader.cancel();
  await over.opened;
});
