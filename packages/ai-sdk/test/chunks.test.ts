import { asSchema, readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import { expect, test } from "vitest";
import { chunksBetween } from "../src/chat-handler/chunks.ts";

type Parts = UIMessage["parts"];

const call = {
  type: "tool-look",
  toolCallId: "c-1",
  toolMetadata: { server: "weather" },
  input: { city: "Oslo" },
};
const dynamic = { ...call, type: "dynamic-tool", toolName: "find", toolCallId: "c-2", title: "Find" };
const approval = { id: "ap-1" };

const looked = [
  { type: "step-start" },
  { type: "reasoning", id: "r-1", text: "Hm, well", state: "done" },
  { type: "text", text: "I look.", state: "done" },
];

const seen = (celsius: number, text: object) => [
  ...looked,
  {
    ...call,
    state: "output-available",
    approval,
    output: "seen",
    resultProviderMetadata: { any: { kept: 1 } },
  },
  { ...dynamic, state: "output-error", errorText: "away", resultProviderMetadata: { any: { kept: 2 } } },
  { type: "source-url", sourceId: "s-1", url: "https://example.com/" },
  { type: "file", mediaType: "text/plain", url: "data:text/plain,hi" },
  { type: "data-weather", id: "d-1", data: { celsius } },
  { type: "step-start" },
  { type: "text", ...text },
];

/** The states of one answer, one after the other, as they are stored. */
const states = [
  [],
  [{ type: "step-start" }, { type: "reasoning", id: "r-1", text: "Hm", state: "streaming" }],
  [
    { type: "step-start" },
    { type: "reasoning", id: "r-1", text: "Hm, well", state: "done" },
    { type: "text", text: "I ", state: "streaming" },
  ],
  [...looked, { ...call, state: "input-streaming", input: {} }],
  [...looked, { ...call, state: "approval-requested", approval }, { ...dynamic, state: "input-available" }],
  seen(4, { text: "", state: "streaming" }),
  seen(5, { text: "4 degrees.", state: "done" }),
] as unknown as Parts[];

/** What a browser makes of these states, of which it misses some. */
async function replayed(seen: readonly Parts[]): Promise<unknown> {
  const chunks: UIMessageChunk[] = [{ type: "start", messageId: "a-1" }];
  seen.forEach((parts, index) => void chunks.push(...chunksBetween(seen[index - 1] ?? [], parts)));
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const errors: unknown[] = [];
  let message: UIMessage | undefined;
  for await (const next of readUIMessageStream({ stream, onError: (error) => errors.push(error) }))
    message = next;
  expect(errors).toEqual([]);
  return JSON.parse(JSON.stringify(message?.parts));
}

const whole = states.at(-1) as Parts;

test.each(states.slice(0, -1).map((parts, index) => [index, parts] as const))(
  "an answer that is followed from state %i on becomes the same",
  async (index) => {
    expect(await replayed(states.slice(index))).toEqual(whole);
    expect(await replayed([states[index] as Parts, whole])).toEqual(whole);
  },
);

test("what has not changed is not sent again", () => {
  for (const parts of states) expect(chunksBetween(parts, parts)).toEqual([]);
});

test("a call that is refused ends so", async () => {
  const denied = [{ ...call, state: "output-denied", approval }] as unknown as Parts;
  expect(await replayed([denied])).toEqual(denied);
});

test("a result that is no longer preliminary is said to be final", async () => {
  const final = { ...call, state: "output-available", output: "seen" };
  const states = [[{ ...final, preliminary: true }], [final]] as unknown as Parts[];
  expect(await replayed(states)).toEqual([final]);
});

test("what a text cites is said with its end", () => {
  const citations = [
    { source: { type: "source", sourceType: "url", id: "s-1", url: "https://example.com/" } },
  ];
  const text = { type: "text", text: "4 degrees." };
  const cited = [{ ...text, state: "done", citations }] as unknown as Parts;
  const end = { type: "text-end", id: "0", citations };
  expect(chunksBetween([], cited).at(-1)).toEqual(end);
  expect(chunksBetween([{ ...text, state: "streaming" }] as Parts, cited)).toEqual([end]);
});

const response = { type: "tool-approval-response", approvalId: "ap-1", approved: true };
const known = await asSchema(uiMessageChunkSchema).validate?.(response);

test.each([
  ["approval-responded", { approved: true }, {}],
  ["approval-responded", { approved: false, reason: "Too dear." }, {}],
  ["output-available", { approved: true, reason: "Go." }, { output: "seen" }],
  ["output-denied", { approved: false }, {}],
])(
  "what was decided on a call (%s, %o) is said in a major that can say it",
  async (state, decision, result) => {
    const asked = known?.success ? { ...approval, requestReason: "Costs 9." } : approval;
    const waiting = [{ ...call, state: "approval-requested", approval: asked }] as unknown as Parts;
    const decided = { ...call, state, approval: { ...asked, ...decision }, ...result };
    const inMajor6 = {
      ...decided,
      state: state === "approval-responded" ? "approval-requested" : state,
      approval: asked,
    };
    const expected = [known?.success ? decided : inMajor6];
    expect(await replayed([[decided] as unknown as Parts])).toEqual(expected);
    expect(await replayed([waiting, [decided] as unknown as Parts])).toEqual(expected);
    for (const chunk of chunksBetween([], [decided] as unknown as Parts))
      expect(await asSchema(uiMessageChunkSchema).validate?.(chunk)).toMatchObject({ success: true });
  },
);
