import type { Anchor, ChatMemory } from "@turnkeep/core";
import { onAbort } from "@turnkeep/core/store-kit";
import {
  consumeStream,
  convertToModelMessages,
  createUIMessageStreamResponse,
  type ModelMessage,
  readUIMessageStream,
  type ToolSet,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { Keeper } from "./keeper.ts";
import { answerMetadata, ended, isStreaming, metadataOf, type StreamPart, withStatus } from "./metadata.ts";
import { newestOf } from "./places.ts";
import { plainChunks, sendable } from "./plain.ts";
import type { Asked } from "./take.ts";

/** What a run of the SDK is asked for. */
export interface Run {
  readonly messages: ModelMessage[];
  readonly abortSignal: AbortSignal;
}

/** What a run of the SDK answers, in both majors. */
export interface Running {
  toUIMessageStream(options: {
    readonly originalMessages: UIMessage[];
    readonly generateMessageId: () => string;
    readonly messageMetadata: (streamed: { readonly part: StreamPart }) => unknown;
  }): ReadableStream<UIMessageChunk>;
}

export interface Answering {
  readonly run: (run: Run) => Running | PromiseLike<Running>;
  readonly tools: ToolSet | undefined;
  /** Called once an answer is stored and its turn is over. */
  readonly onAnswer: (memory: Memory, answered: Answered) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
}

/** An answer that is stored. */
export interface Answered {
  readonly asked: Asked;
  /** What it belongs to: the chat, and the question in it. */
  readonly anchor: Anchor;
  readonly message: UIMessage;
}

/** What the user did, taken in by `take` once it is the turn of the request, if what must exist then does. */
export interface Taking {
  readonly mustExist: boolean | Anchor;
  readonly take: () => Promise<Asked>;
}

type Memory = ChatMemory<UIMessage>;

/** How long the chat of a process that died waits for the next answer. */
export const leaseMs = 10_000;

/**
 * Answers within a turn, which goes on to its end whether or not somebody still listens. What `take` throws is thrown here,
 * and what goes wrong later is reported.
 */
export async function answer(
  memory: Memory,
  request: Request,
  { mustExist, take }: Taking,
  answering: Answering,
): Promise<Response> {
  // An answer that has begun goes on. Of a question that waits nothing is stored: a page that is loaded anew does not show it,
  // and who stops it looks like who has gone.
  const waiting = new AbortController();
  const leave = (): void => waiting.abort(request.signal.reason);
  if (request.signal.aborted) leave();
  const stopFollowing = onAbort(request.signal, leave);
  const { promise, resolve, reject } = withResolvers<Response>();
  let report = reject;
  const work = memory
    .turn(
      async ({ signal }) => {
        stopFollowing();
        await settle(memory);
        const { messages, ...place } = await take();
        const asked = { ...place, messages: messages.map(sendable) };
        const anchor = await memory.anchor(asked.questionId);
        const { shown, kept } = await stream(memory, asked, signal, answering);
        resolve(createUIMessageStreamResponse({ stream: shown }));
        report = answering.onError;
        return { asked, anchor, message: await kept };
      },
      { leaseMs, mustExist, signal: waiting.signal },
    )
    .then((answered) => answering.onAnswer(memory, answered))
    .catch((error: unknown) => report(error))
    .finally(stopFollowing);
  try {
    answering.waitUntil?.(work);
  } catch (error) {
    // The turn has begun: who asked is answered all the same.
    answering.onError(error);
  }
  return promise;
}

/** Marks an answer whose process died. Who holds the turn knows that nobody makes it any more. */
export async function settle(memory: Memory): Promise<void> {
  const newest = await newestOf(memory);
  if (newest === undefined || !isStreaming(newest.message)) return;
  await memory.put(newest.id, ended(newest.message, "interrupted"), { replaces: newest.message });
}

/** Runs the SDK: the answer for the browser, and the answer as it is stored in the end. */
async function stream(
  memory: Memory,
  { messages, answer, id }: Asked,
  signal: AbortSignal,
  { run, tools, onError }: Answering,
): Promise<{ shown: ReadableStream<UIMessageChunk>; kept: Promise<UIMessage> }> {
  const gone = new AbortController();
  const abortSignal = AbortSignal.any([signal, gone.signal]);
  const keeper = new Keeper(memory, id, () => gone.abort());
  try {
    const running = await run({
      messages: await convertToModelMessages(messages, tools && { tools }),
      abortSignal,
    });
    const streamed = running
      .toUIMessageStream({
        originalMessages: structuredClone(messages),
        generateMessageId: () => answer.id,
        messageMetadata: answerMetadata(metadataOf(answer)),
      })
      .pipeThrough(plainChunks(memory.format));
    const [shown, read] = streamed.tee();
    const kept = keep(keeper, answer, read, { signal: abortSignal, onError });
    return { shown: shown.pipeThrough(endingWith(kept)), kept };
  } catch (error) {
    await keeper.end(withStatus(answer, "failed"));
    throw error;
  }
}

/** Who has seen the end of an answer finds it stored, and the next turn free. */
function endingWith(kept: Promise<unknown>): TransformStream<UIMessageChunk, UIMessageChunk> {
  return new TransformStream({
    flush: () =>
      kept.then(
        () => undefined,
        () => undefined,
      ),
  });
}

async function keep(
  keeper: Keeper,
  answer: UIMessage,
  streamed: ReadableStream<UIMessageChunk>,
  { signal, onError }: { readonly signal: AbortSignal } & Pick<Answering, "onError">,
): Promise<UIMessage> {
  const [read, all] = streamed.tee();
  const isOver = consumeStream({ stream: all });
  let newest = answer;
  let problem: unknown;
  const message = answer.parts.length === 0 ? undefined : structuredClone(answer);
  for await (const next of readUIMessageStream({
    ...(message && { message }),
    stream: read,
    onError: (error) => {
      problem ??= error;
    },
  })) {
    newest = next;
    keeper.note(next);
  }
  // Where it could not be read on, the run and its tools have gone on nevertheless.
  await isOver;
  const { status } = metadataOf(newest);
  // What the run itself told is the answer's status.
  if (problem !== undefined && status === "streaming" && !signal.aborted) onError(problem);
  const whole = ended(newest, status !== "streaming" ? status : signal.aborted ? "stopped" : "failed");
  await keeper.end(whole);
  return whole;
}

/** `Promise.withResolvers`, which Node 20 has not. */
function withResolvers<T>() {
  let [resolve, reject] = [(_: T): void => {}, (_: unknown): void => {}];
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}
