import { expect, test } from "vitest";
import { eventData } from "../src/openai-compatible/sse.ts";

async function dataOf(...chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      }
      controller.close();
    },
  });
  const data: string[] = [];
  for await (const each of eventData(body)) data.push(each);
  return data;
}

test.each([
  ["one a chunk", ["data: a\n\n", "data: b\n\n"], ["a", "b"]],
  ["cut anywhere", ["da", "ta: a", "\n", "\ndata:b\n\n"], ["a", "b"]],
  ["without a blank in front", ["data:a b\n\n"], ["a b"]],
  ["of several lines", ["data: a\ndata:  b\ndata\n\n"], ["a\n b\n"]],
  ["with carriage returns", ["data: a\rdata: b\r\r"], ["a\nb"]],
  ["with both, cut between them", ["data: a\r", "\ndata: b\r", "\n\r", "\n"], ["a\nb"]],
  ["with a carriage return at the end", ["data: a\r\r", "data: b\n\r"], ["a", "b"]],
  ["with comments and other fields", [": c\n\nevent: x\nid: 1\ndata: a\nretry: 1\n\n"], ["a"]],
  ["of which the last is cut off", ["data: a\n\ndata: b\n"], ["a"]],
  ["none", [], []],
])("events %s", async (_how, chunks, expected) => {
  expect(await dataOf(...chunks)).toEqual(expected);
});

test("events cut at every place", async () => {
  const text = "data: a\r\n\r\ndata: b\ndata: c\r\rdata: d\n\n";
  for (let one = 0; one <= text.length; one++) {
    for (let two = one; two <= text.length; two++) {
      const chunks = [text.slice(0, one), text.slice(one, two), text.slice(two)];
      expect(await dataOf(...chunks), JSON.stringify(chunks)).toEqual(["a", "b\nc", "d"]);
    }
  }
});

test("an event of many megabytes in small chunks", async () => {
  const image = "x".repeat(4096);
  const [data] = await dataOf("data: ", ...new Array<string>(6000).fill(image), "\n\n");
  expect(data?.length).toBe(6000 * 4096);
});

test("a character cut in two", async () => {
  const bytes = new TextEncoder().encode("data: é\n\n");
  expect(await dataOf(bytes.subarray(0, 7), bytes.subarray(7))).toEqual(["é"]);
});

test("whoever stops reading ends the stream", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: a\n\n")),
    cancel: () => {
      cancelled = true;
    },
  });
  for await (const _ of eventData(body)) break;
  expect(cancelled).toBe(true);
});

test("behind the last event the end is read: of a stream that is broken off the connection cannot be used again", async () => {
  let isCancelled = false;
  let end: (() => void) | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode("data: a\n\ndata: [DONE]\n\n"));
      end = () => controller.close();
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  const seen: string[] = [];
  for await (const each of eventData(body, (event) => event === "[DONE]")) seen.push(each);
  expect(seen).toEqual(["a", "[DONE]"]);
  expect(isCancelled).toBe(false);
  end?.();
});

test("a stream without an end is ended all the same", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: [DONE]\n\n")),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const _ of eventData(body, () => true));
  await expect.poll(() => isCancelled, { timeout: 3000 }).toBe(true);
});
