import type { ChatMemory } from "@turnkeep/core";
import type { UIMessage, UIMessageChunk } from "ai";
import { chunksBetween } from "./chunks.ts";
import { type ChatMetadata, isStreaming, metadataOf, withStatus } from "./metadata.ts";
import { newestOf, standingNow } from "./places.ts";

type Memory = ChatMemory<UIMessage>;

/** How often the store is asked what an answer has become. What a follower shows is late by that and `keepEveryMs`. */
const lookEveryMs = 500;

/**
 * The answer that is being made, by this process or another: all of it so far, then what is stored of it from time to time.
 * `undefined` if none is.
 */
export async function follow(memory: Memory): Promise<ReadableStream<UIMessageChunk> | undefined> {
  const first = await newestOf(memory);
  if (first === undefined || !isStreaming(first.message)) return undefined;
  if (!(await memory.running())) return undefined;
  const { id, message } = first;
  let shown = message;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLeft = false;
  return new ReadableStream<UIMessageChunk>({
    start(controller) {
      controller.enqueue({ type: "start", messageId: message.id, messageMetadata: message.metadata });
      for (const chunk of chunksBetween([], message.parts)) controller.enqueue(chunk);
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
  const next = isRunning || !isStreaming(stored) ? stored : withStatus(stored, "interrupted");
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
