import type { UIMessageChunk } from "ai";

/** What happens in a turn of `@turnkeep/assistant`, as far as a browser is shown it. */
export type AssistantEvent =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | { readonly type: "tool-call"; readonly call: AssistantCall }
  | {
      readonly type: "tool-result";
      readonly result: {
        readonly toolCallId: string;
        readonly output: unknown;
        readonly isError: boolean;
        readonly isDenied?: boolean | undefined;
      };
    }
  | {
      readonly type: "tool-approval-request";
      readonly request: { readonly approvalId: string; readonly call: AssistantCall };
    }
  | { readonly type: "finish" };

/** A call of the model. */
export interface AssistantCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Options of {@link toUIMessageStream}. */
export interface AssistantStreamOptions {
  /** The id that the browser is to know the answer by. */
  readonly messageId?: string | undefined;
  /** The text that the browser is shown for an error. Default: `An error occurred.` */
  readonly onError?: ((error: unknown) => string) | undefined;
}

/**
 * What an assistant of `@turnkeep/assistant` streams, as `useChat` reads it: for the SDK's `createUIMessageStreamResponse`. To leave the
 * stream ends the turn, as it does for the assistant's own.
 *
 * @example
 * ```ts
 * import { type AssistantEvent, toUIMessageStream } from "@turnkeep/ai-sdk";
 * import { createUIMessageStreamResponse } from "ai";
 *
 * declare const assistant: { stream(question: string): AsyncIterable<AssistantEvent> }; // createAssistant(…)
 *
 * async function POST(request: Request): Promise<Response> {
 *   return createUIMessageStreamResponse({ stream: toUIMessageStream(assistant.stream(await request.text())) });
 * }
 * ```
 */
export function toUIMessageStream(
  events: AsyncIterable<AssistantEvent>,
  { messageId, onError = () => "An error occurred." }: AssistantStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const iterator = events[Symbol.asyncIterator]();
  const chunks = chunksOf(iterator, messageId, onError);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      // First: while the generator waits for an event, its own `return` reaches the turn only after that.
      await iterator.return?.();
      await chunks.return(undefined);
    },
  });
}

async function* chunksOf(
  iterator: AsyncIterator<AssistantEvent>,
  messageId: string | undefined,
  onError: (error: unknown) => string,
): AsyncGenerator<UIMessageChunk, void> {
  yield { type: "start", ...(messageId !== undefined && { messageId }) };
  const step = new Step();
  try {
    for await (const event of { [Symbol.asyncIterator]: () => iterator }) yield* step.chunksOf(event);
  } catch (error) {
    yield { type: "error", errorText: onError(error) };
  }
}

/** One answer of the model with the results of its calls, as it comes in. */
class Step {
  #isOpen = false;
  #hasResults = false;
  #parts = 0;
  /** The text that is being streamed. */
  #text: "text" | "reasoning" | undefined;
  readonly #called = new Set<string>();

  *chunksOf(event: AssistantEvent): Generator<UIMessageChunk> {
    switch (event.type) {
      case "text":
      case "reasoning":
        yield* this.#begin();
        if (this.#text !== event.type) {
          yield* this.#endText();
          this.#text = event.type;
          yield { type: `${event.type}-start`, id: `${++this.#parts}` };
        }
        yield { type: `${event.type}-delta`, id: `${this.#parts}`, delta: event.text };
        return;
      case "tool-call":
        return yield* this.#call(event.call);
      case "tool-result":
        this.#hasResults = true;
        return yield resultChunk(event.result);
      case "tool-approval-request": {
        const { approvalId, call } = event.request;
        yield* this.#call(call);
        return yield { type: "tool-approval-request", approvalId, toolCallId: call.id };
      }
      case "finish":
        yield* this.#end();
        yield { type: "finish" };
    }
  }

  *#call({ id: toolCallId, name: toolName, input }: AssistantCall): Generator<UIMessageChunk> {
    yield* this.#begin();
    yield* this.#endText();
    if (this.#called.has(toolCallId)) return;
    this.#called.add(toolCallId);
    yield { type: "tool-input-available", toolCallId, toolName, input };
  }

  /** What the model says behind results is another step. */
  *#begin(): Generator<UIMessageChunk> {
    if (this.#hasResults) yield* this.#end();
    if (!this.#isOpen) yield { type: "start-step" };
    this.#isOpen = true;
  }

  *#end(): Generator<UIMessageChunk> {
    yield* this.#endText();
    if (this.#isOpen) yield { type: "finish-step" };
    this.#isOpen = false;
    this.#hasResults = false;
  }

  *#endText(): Generator<UIMessageChunk> {
    if (this.#text !== undefined) yield { type: `${this.#text}-end`, id: `${this.#parts}` };
    this.#text = undefined;
  }
}

type Result = Extract<AssistantEvent, { type: "tool-result" }>["result"];

function resultChunk({ toolCallId, output, isError, isDenied }: Result): UIMessageChunk {
  if (isDenied === true) return { type: "tool-output-denied", toolCallId };
  if (!isError) return { type: "tool-output-available", toolCallId, output };
  const errorText = typeof output === "string" ? output : JSON.stringify(output);
  return { type: "tool-output-error", toolCallId, errorText };
}
