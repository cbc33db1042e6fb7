import {
  modelMessagesToUIMessages,
  type StreamChunk,
  type Tool,
  toolDefinition,
  type UIMessage,
} from "@tanstack/ai";
import { expect, it } from "vitest";
import { z } from "zod";
import {
  ask,
  calling,
  type Memories,
  memoriesOf,
  record,
  recorded,
  Scripted,
  saying,
  toolOf,
} from "./chats.ts";

let runs = 0;

function approved(name: string): Tool {
  const definition = { name, description: name, inputSchema: z.object({}), needsApproval: true };
  return toolDefinition(definition).server(async () => `${name} ${++runs}` as never) as unknown as Tool;
}

const browsers = toolDefinition({
  name: "browsers",
  description: "",
  inputSchema: z.object({}),
}) as unknown as Tool;

/** The interrupts with which a run has ended. */
function interruptsOf(chunks: readonly StreamChunk[]) {
  const last = chunks.at(-1) as { outcome?: { interrupts?: { id: string; toolCallId: string }[] } };
  return last.outcome?.interrupts ?? [];
}

/** A run that waits for the decision on a call of `pay`, after another turn. */
async function waiting(memories: Memories, ...tools: Tool[]) {
  await ask(memories, "Hello", { adapter: new Scripted(saying("Hi.")) });
  const adapter = new Scripted(calling(...tools.map(({ name }) => name)));
  return ask(memories, "Pay.", { adapter, tools, runId: "run-1" });
}

const before = ["user: Hello", "assistant: Hi.", "user: Pay."];

it("stores a call that waits for a decision, and carries it out once it is approved, in a run with nothing else", async () => {
  const memories = memoriesOf();
  const pay = approved("pay");
  const [interrupt] = interruptsOf(await waiting(memories, pay));
  expect(await recorded(memories)).toEqual([...before, "assistant: [pay]"]);
  runs = 0;
  const adapter = new Scripted(saying("Paid."));
  await ask(memories, [], {
    adapter,
    tools: [pay],
    parentRunId: "run-1",
    runId: "run-2",
    resume: [{ interruptId: interrupt?.id, status: "resolved", payload: { approved: true } }],
  });
  expect(runs).toBe(1);
  expect(await recorded(memories)).toEqual([...before, "assistant: [pay]", "(pay 1)", "assistant: Paid."]);
  expect(adapter.prompts()).toEqual([[...before, "assistant: [pay]", "(pay 1)"]]);
});

it("tells the client of all that was said when a run waits, though it was given the question alone", async () => {
  const chunks = await waiting(memoriesOf({ maxMessages: 2 }), approved("pay"));
  const snapshot = chunks.find(({ type }) => type === "MESSAGES_SNAPSHOT") as
    | { messages?: unknown[] }
    | undefined;
  expect(JSON.stringify(snapshot?.messages)).toMatch(/Hello.*Hi\..*Pay\./);
});

it.each([true, false])(
  "takes a decision from the browser's own messages, approved: %s",
  async (isApproved) => {
    const memories = memoriesOf();
    const pay = approved("pay");
    await waiting(memories, pay);
    runs = 0;
    const page = modelMessagesToUIMessages(await record(memories)) as UIMessage[];
    const [part] = page.at(-1)?.parts ?? [];
    const approval = {
      id: `approval_${(part as { id: string }).id}`,
      needsApproval: true,
      approved: isApproved,
    };
    Object.assign(part as object, { state: "approval-responded", approval });
    const adapter = new Scripted(saying("Well."));
    await ask(memories, page, { adapter, tools: [pay] });
    expect(runs).toBe(isApproved ? 1 : 0);
    const said = await recorded(memories);
    expect(said).toHaveLength(6);
    expect(said[4]).toMatch(isApproved ? /pay 1/ : /denied/);
    expect(adapter.prompts()).toEqual([said.slice(0, 5)]);
  },
);

it("stores what the browser's own tool has answered, beside those that ran here", async () => {
  const memories = memoriesOf();
  const tools = [toolOf("first"), browsers];
  const [interrupt] = interruptsOf(await waiting(memories, ...tools));
  expect(await recorded(memories)).toEqual([...before, "assistant: [first][browsers]", "(first done)"]);
  const page = modelMessagesToUIMessages(await record(memories)) as UIMessage[];
  const part = page
    .flatMap(({ parts }) => parts)
    .find((part) => part.type === "tool-call" && part.name === "browsers");
  Object.assign(part as object, { output: { position: 7 } });
  const adapter = new Scripted(saying("There."));
  await ask(memories, page, { adapter, tools });
  const answered = [...before, "assistant: [first][browsers]", "(first done)", '({"position":7})'];
  expect(await recorded(memories)).toEqual([...answered, "assistant: There."]);
  expect(adapter.prompts()).toEqual([answered]);
  expect(interrupt?.toolCallId).toMatch(/^browsers/);
});

it("answers a question that is asked in place of a decision, and never carries the call out", async () => {
  const memories = memoriesOf();
  const pay = approved("pay");
  await waiting(memories, pay);
  runs = 0;
  const adapter = new Scripted(saying("Nothing was paid."));
  await ask(memories, "What did it cost?", { adapter, tools: [pay] });
  expect(runs).toBe(0);
  expect(adapter.prompts()[0]?.[4]).toMatch(/interrupted/);
});
