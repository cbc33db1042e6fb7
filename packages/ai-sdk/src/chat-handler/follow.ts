import type { ChatMemory } from "@turnkeep/core";
import type { UIMessage, UIMessageChunk } from "ai";
import { chunksBetween } from "./chunks.ts";
import { type ChatMetadata, isStreaming, metadataOf, withStatus } from "./metadata.ts";
import { newestOf, standingNow } from "./places.ts";
import { sendable } from "./plain.ts";

type Memory = ChatMemory<UIMessage>;

/** How often the store is asked what an answer has become. What a follower shows is late by that and `keepEveryMs`. */
const lookEveryMs = 500;

/**
 * The answer that is being made, by this process or another: all of it so far, then what is stored of it from time to time.
 * If none is, all of the answer `shownId`, which its page has seen in the making. `undefined` if there is no such answer.
 */
export async function follow(
  memory: Memory,
  shownId: string | undefined,
): Promise<ReadableStream<UIMessageChunk> | undefined> {
  const first = await newestOf(memory);
  if (first === undefined) return undefined;
  if (isStreaming(first.message) && (await memory.running()))
    return following(memory, first.id, sendable(first.message));
  const shown = shownId === undefined ? undefined : await standingNow(memory, shownId);
  if (shown?.role !== "assistant") return undefined;
  return whole(sendable(isStreaming(shown) ? withStatus(shown, "interrupted") : shown));
}

function whole(message: UIMessage): ReadableStream<UIMessageChunk> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of beginningOf(message)) controller.enqueue(chunk);
      const end = endOf(metadataOf(message));
      if (end !== undefined) controller.enqueue(end);
      controller.close();
    },
  });
}

function beginningOf({ id, metadata, parts }: UIMessage): UIMessageChunk[] {
  return [{ type: "start", messageId: id, messageMetadata: metadata }, ...chunksBetween([], parts)];
}

function following(memory: Memory, id: string, message: UIMessage): ReadableStream<UIMessageChunk> {
  let shown = message;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLeft = false;
  return new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of beginningOf(message)) controller.enqueue(chunk);
    },
    async pull(controller) {
      for (;;) {
        await new Promise((resolve) => {
          timer = setTimeout(resolve, lookEveryMs);
        });
        const { chunks, end, next } = await look(memory, id, shown);
        if (isLeft) return;
        shown = next;
        for (const chunk of chunks) controller.enqueue(chunk);
        if (end !== undefined) controller.enqueue(end);
        if (end !== undefined) return controller.close();
        if (chunks.length > 0) return;
      }
    },
    cancel() {
      isLeft = true;
      clearTimeout(timer);
    },
  });
}

interface Seen {
  readonly chunks: UIMessageChunk[];
  readonly next: UIMessage;
  readonly end: UIMessageChunk | undefined;
}

async function look(memory: Memory, id: string, shown: UIMessage): Promise<Seen> {
  // Asked first: a turn that ends in between has stored its last.
  const isRunning = await memory.running();
  const stored = await standingNow(memory, id);
  if (stored === undefined) return { chunks: [], next: shown, end: { type: "abort" } };
  const next = sendable(isRunning || !isStreaming(stored) ? stored : withStatus(stored, "interrupted"));
  const chunks = chunksBetween(shown.parts, next.parts);
  const isTold = JSON.stringify(shown.metadata) === JSON.stringify(next.metadata);
  if (!isTold) chunks.push({ type: "message-metadata", messageMetadata: next.metadata });
  return { chunks, next, end: endOf(metadataOf(next)) };
}

function endOf({ status }: ChatMetadata): UIMessageChunk | undefined {
  if (status === "streaming") return undefined;
  if (status === "failed") return { type: "error", errorText: "An error occurred." };
  return { type: status === "done" ? "finish" : "abort" };
}
