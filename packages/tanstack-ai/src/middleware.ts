import type { ChatMiddleware, ChatMiddlewareContext, ModelMessage } from "@tanstack/ai";
import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import { chatMemories, type Fields, memoryOf, optional, such, takeOptions } from "@turnkeep/core/store-kit";
import { tanstackFormat } from "./format.ts";
import { resultOf } from "./middleware/messages.ts";
import { Run } from "./middleware/run.ts";

/** Options of {@link turnkeepMiddleware}. */
export interface TurnkeepMiddlewareOptions<Context = unknown> {
  /** Where the conversations are kept: `createChatMemories({ format: tanstackFormat, … })`. */
  readonly memories: ChatMemories<ModelMessage>;
  /**
   * On whose behalf `chat` runs: a conversation of another owner is `OWNER_MISMATCH`, before anything is read or stored. A
   * function answers it for each run, from its `context`; `undefined` is refused, so that a forgotten user does not have
   * everybody's conversations.
   */
  readonly owner?: string | ((ctx: ChatMiddlewareContext<Context>) => string);
}

const fields = {
  memories: chatMemories,
  owner: optional(such("a text or a function", (value) => ["string", "function"].includes(typeof value))),
} satisfies Fields<TurnkeepMiddlewareOptions>;

/**
 * A middleware for `chat`: the conversation with the id `threadId` is kept in a Turnkeep memory. The question is stored
 * first, each answer before its tools run, and each result as soon as its tool is done, so a run that was killed goes on in
 * any process. The run's `messages` are the record: all that was said, whatever the application handed over. Each model call
 * is shown what the memory shows: its window, repaired, in the shape that its `profile` accepts, with the question that is
 * being answered.
 *
 * List it first: then what other middleware does to a request stays. Make one for the application, not one a request.
 *
 * Errors of a run: `INVALID_OPTION`, also if it is given nothing new and the newest answer is whole, `OWNER_MISMATCH`,
 * `WINDOW_OVERFLOW`, `NOT_FOUND` if the question was taken back or the conversation deleted meanwhile, and those of a
 * memory's calls.
 *
 * @example
 * ```ts
 * import type { AnyTextAdapter } from "@tanstack/ai";
 * import { chat } from "@tanstack/ai";
 * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
 * import { tanstackFormat, turnkeepMiddleware } from "@turnkeep/tanstack-ai";
 *
 * const window = { maxMessages: 40, unit: "turn" } as const;
 * const memories = createChatMemories({ store: inMemoryStore(), format: tanstackFormat, window });
 * const memory = turnkeepMiddleware<{ user: string }>({ memories, owner: ({ context }) => context.user });
 *
 * function answer(adapter: AnyTextAdapter, threadId: string, user: string, content: string) {
 *   const messages = [{ role: "user" as const, content }];
 *   return chat({ adapter, threadId, messages, context: { user }, middleware: [memory] });
 * }
 * ```
 */
export function turnkeepMiddleware<Context = unknown>(
  options: TurnkeepMiddlewareOptions<Context>,
): ChatMiddleware<Context> {
  takeOptions("turnkeepMiddleware's options", fields, options as TurnkeepMiddlewareOptions);
  const runs = new WeakMap<object, Run>();
  return {
    name: "turnkeep",
    async onConfig(ctx, config) {
      const run = runs.get(ctx) ?? new Run(memoryFor(options, ctx));
      runs.set(ctx, run);
      if (ctx.phase === "init") return { messages: await run.begin(config.messages) };
      await run.keep(config.messages);
      return { providerMessages: await run.view(config) };
    },
    onIteration(ctx) {
      runs.get(ctx)?.next();
    },
    async onChunk(ctx, { type }) {
      if (type === "TOOL_CALL_START") runs.get(ctx)?.calls();
      if (type === "RUN_FINISHED") await runs.get(ctx)?.said(ctx);
    },
    async onInterruptBoundary(ctx) {
      await runs.get(ctx)?.keep(ctx.messages);
      return undefined;
    },
    async onAfterToolCall(ctx, info) {
      await runs.get(ctx)?.keep([...ctx.messages, resultOf(info)]);
    },
    async onFinish(ctx) {
      await runs.get(ctx)?.keep(ctx.messages);
    },
    async onAbort(ctx) {
      await runs.get(ctx)?.cutOff(ctx, "stopped");
    },
    async onError(ctx) {
      await runs.get(ctx)?.cutOff(ctx, "failed");
    },
  };
}

function memoryFor<Context>(
  { memories, ...asked }: TurnkeepMiddlewareOptions<Context>,
  ctx: ChatMiddlewareContext<Context>,
): ChatMemory<ModelMessage> {
  const { owner } = asked;
  const open = (named: { readonly owner?: string | undefined }): ChatMemory<ModelMessage> =>
    memoryOf(memories, { id: ctx.threadId, ...named }, tanstackFormat, "tanstackFormat");
  if (typeof owner === "function") return open({ owner: owner(ctx) });
  return open("owner" in asked ? { owner } : {});
}
