import { type ChatMemories, type ChatMemory, isTurnkeepError } from "@turnkeep/core";
import {
  callback,
  chatMemories,
  type Fields,
  invalidOption,
  optional,
  such,
  takeOptions,
} from "@turnkeep/core/store-kit";
import {
  createUIMessageStreamResponse,
  type LanguageModel,
  stepCountIs,
  streamText,
  type ToolSet,
  type UIMessage,
} from "ai";
import { about, updateChat } from "./chat-handler/about.ts";
import { type Answering, answer, type Run, type Running } from "./chat-handler/answer.ts";
import { follow } from "./chat-handler/follow.ts";
import { list, page, removeChat, removeMessage, stop } from "./chat-handler/pages.ts";
import { anchorOf, checkExists } from "./chat-handler/places.ts";
import {
  type ChatFiles,
  checkPost,
  isNewChatId,
  type Posted,
  readChange,
  readPosted,
} from "./chat-handler/posted.ts";
import { Refusal, responseTo } from "./chat-handler/refusal.ts";
import { type Action, actionOf } from "./chat-handler/routes.ts";
import { ask, checkQuestion, decide, decidedOf } from "./chat-handler/take.ts";
import { giveTitle } from "./chat-handler/title.ts";
import { tree } from "./chat-handler/tree.ts";
import { restoreVersion } from "./chat-handler/versions.ts";
import { chatOf } from "./chat-of.ts";

/** Settings of `streamText`, passed on as they are: instructions, approvals, when to stop, and so on. */
export type ChatSettings = Omit<
  Parameters<typeof streamText>[0],
  "abortSignal" | "messages" | "model" | "prompt" | "tools"
>;

/** An agent of the SDK, such as a `ToolLoopAgent`. */
export interface ChatAgent {
  readonly tools?: ToolSet | undefined;
  stream(options: never): PromiseLike<object>;
}

/** Options of {@link chatHandler}. */
export interface ChatHandlerOptions<M extends UIMessage = UIMessage> {
  /** Where the chats are kept: `createChatMemories({ format: uiMessageFormat(), … })`. */
  readonly memories: ChatMemories<M>;
  /** Who asks, from the request's session. `undefined`: nobody, which is 401. */
  readonly owner: (request: Request) => string | undefined | Promise<string | undefined>;
  /** What answers, or else an `agent`. */
  readonly model?: LanguageModel | undefined;
  /** What answers in place of a `model`, with tools and settings of its own. */
  readonly agent?: ChatAgent | undefined;
  /** With `model`: its tools. What they need approval for, the user decides. */
  readonly tools?: ToolSet | undefined;
  /** With `model`: further settings of `streamText`. Its `stopWhen` is 20 steps if none is given. */
  readonly settings?: ChatSettings | undefined;
  /**
   * The title of a chat that has none, asked once its first answer is stored, with that question and answer; shown in the
   * list of chats. It may ask a model. 200 characters of it are kept, in the memory's `data`. An answer that was stopped or
   * failed counts, with what came of it. If none comes of it (the process died, it throws, or answers a blank text), it is
   * asked after the next answer, with what the model was shown.
   */
  readonly title?: ((messages: UIMessage[]) => string | Promise<string>) | undefined;
  /** Where the handler is mounted. Default: `/api/chat`, as in the SDK. */
  readonly path?: string | undefined;
  /** Which files a question may hold. Default: none. */
  readonly files?: ChatFiles | undefined;
  /** Keeps a serverless function alive until an answer is stored: Next's `after`, Cloudflare's `(work) => ctx.waitUntil(work)`. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** Told what goes wrong on the server's side. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const isObjectOrText = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : typeof value === "object" && value !== null;

const fields = {
  memories: chatMemories,
  owner: callback,
  model: optional(such<LanguageModel>("a language model of the AI SDK, or the name of one", isObjectOrText)),
  agent: optional(
    such<ChatAgent>(
      "an agent of the AI SDK",
      (value) => typeof (value as ChatAgent | null)?.stream === "function",
    ),
  ),
  tools: optional(
    such<ToolSet>("an object of tools", (value) => typeof value === "object" && value !== null),
  ),
  // The SDK checks them.
  settings: optional(),
  title: optional(callback),
  path: optional(
    such<string>("a path such as /api/chat", (value) => /^(?:\/[^/?#]+)+$/.test(String(value))),
    "/api/chat",
  ),
  files: optional(
    such<ChatFiles>("{ mediaTypes: [...] }", (value) =>
      Array.isArray((value as ChatFiles | null)?.mediaTypes),
    ),
  ),
  waitUntil: optional(callback),
  onError: optional(callback, (error: unknown) => console.error(error)),
} satisfies Fields<ChatHandlerOptions>;

/**
 * The server's side of a chat with `useChat`, over the messages of `chatTransport` from `@turnkeep/ai-sdk/client`: a web-standard
 * handler for Next.js, Hono, Bun, Deno, Workers or Node. Put it at `path` and everything below.
 *
 * | request | what it does |
 * |---|---|
 * | `POST /api/chat` | a question, an edited one, one to be answered anew, or decisions on calls that wait: the answer as a stream |
 * | `GET /api/chat` | the chats of who asks, newest first if the store can: `{ chats, cursor? }`; `?cursor=`, `?limit=` |
 * | `GET /api/chat/:id` | the newest messages: `{ messages, before?, versions? }`; `?before=` for the page before, `?limit=` |
 * | `GET /api/chat/:id/tree` | all that was said, with each message's parent: `{ messages, headId? }` |
 * | `GET /api/chat/:id/about` | `{ id, title?, archived? }`; `POST` with `{ title?, archived? }` changes it |
 * | `GET /api/chat/:id/stream` | the answer that is being made, for `resume: true`; 204 if none is; `?shown=`: then that answer, whole |
 * | `POST /api/chat/:id/stop` | ends that answer, in whatever process |
 * | `POST /api/chat/:id/versions/:versionId` | switches to a version of a message: the page that is then there |
 * | `DELETE /api/chat/:id` | deletes the chat |
 * | `DELETE /api/chat/:id/messages/:messageId` | deletes a message that is no system message |
 *
 * What was said before is read from the memory alone; of a request only a user's message, or decisions on pending approvals,
 * is taken. One answer is made at a time in a chat, across processes. It is stored while it streams, and goes on when the
 * browser has gone. What the user did wrong is 4xx with `{ error }`; a question that does not fit the window is 413 and leaves
 * nothing behind; a chat of somebody else is 404, like one that is not there.
 *
 * Errors: `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { chatHandler } from "@turnkeep/ai-sdk";
 * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
 * import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
 * import type { UIMessage } from "ai";
 *
 * declare function userOf(request: Request): Promise<string | undefined>; // from its session
 *
 * const memories = createChatMemories({
 *   store: inMemoryStore(),
 *   format: uiMessageFormat<UIMessage>(),
 *   window: { maxMessages: 40, unit: "turn" },
 * });
 * export const handler = chatHandler({ memories, owner: userOf, model: "openai/gpt-5" });
 * // Next.js, app/api/chat/[[...path]]/route.ts: export { handler as GET, handler as POST, handler as DELETE };
 * ```
 */
export function chatHandler<M extends UIMessage>(
  options: ChatHandlerOptions<M>,
): (request: Request) => Promise<Response> {
  const taken = takeOptions("chatHandler's argument", fields, options as unknown as ChatHandlerOptions);
  const { path, owner, onError } = taken;
  if ((taken.model === undefined) === (taken.agent === undefined)) {
    throw invalidOption("chatHandler needs a model or an agent, and not both.");
  }
  if (taken.agent !== undefined && (taken.tools !== undefined || taken.settings !== undefined)) {
    throw invalidOption("tools and settings are the agent's own: chatHandler takes them with a model.");
  }
  const handler = new Handler(taken);
  return async (request) => {
    try {
      const action = actionOf(request, path);
      const user = await owner(request);
      if (user === undefined || user === "") throw new Refusal(401, "Sign in.");
      return await handler.act(request, user, action);
    } catch (error) {
      const response = responseTo(error);
      if (response !== undefined) return response;
      // Nobody reads the response any more.
      if (request.signal.aborted) return new Response(null, { status: 499 });
      onError(error);
      return Response.json({ error: "Something went wrong. Try again." }, { status: 500 });
    }
  };
}

type Taken = ReturnType<typeof takeOptions<ChatHandlerOptions, typeof fields>>;
type Memory = ChatMemory<UIMessage>;

class Handler {
  readonly #options: Taken;
  readonly #answering: Answering;

  constructor(options: Taken) {
    const { agent, title, tools, waitUntil, onError } = options;
    this.#options = options;
    this.#answering = {
      tools: agent?.tools ?? tools,
      run: agent === undefined ? (run) => this.#runModel(run) : (run) => runAgent(agent, run, onError),
      onAnswer: async (memory, { asked, anchor, message }) => {
        if (title === undefined) return;
        // One that goes on once its calls were decided on is in what was asked already, as it was then.
        const before = asked.messages.filter(({ id }) => id !== message.id);
        await giveTitle(memory, anchor, () => title([...before, message]));
      },
      onError,
      waitUntil,
    };
  }

  async act(request: Request, user: string, action: Action): Promise<Response> {
    if (request.method === "POST") checkPost(request);
    if (action.name === "post") {
      const posted = await readPosted(request, this.#options.files);
      return this.#post(request, this.#memory(posted.id, user), posted);
    }
    if (action.name === "list") {
      return Response.json(await list(this.#options.memories, user, action.query));
    }
    const memory = this.#memory(action.id, user);
    switch (action.name) {
      case "page":
        return Response.json(await page(memory, action.query));
      case "tree":
        return Response.json(await tree(memory));
      case "about":
        return Response.json(await about(memory));
      case "update":
        return Response.json(await updateChat(memory, await readChange(request)));
      case "resume": {
        const stream = await follow(memory, action.shownId).catch(nothingOfOthers);
        return stream === undefined
          ? new Response(null, { status: 204 })
          : createUIMessageStreamResponse({ stream });
      }
      case "stop":
        return Response.json(await stop(memory));
      case "restore":
        await checkExists(memory);
        await restoreVersion(memory, action.messageId, request.signal);
        return Response.json(await page(memory, new URLSearchParams()));
      case "remove-chat":
        await removeChat(memory);
        return new Response(null, { status: 204 });
      case "remove-message":
        await removeMessage(memory, action.messageId);
        return new Response(null, { status: 204 });
    }
  }

  #memory(id: string, user: string): Memory {
    return chatOf(this.#options.memories, id, user);
  }

  async #post(request: Request, memory: Memory, { message, seen, parentId }: Posted): Promise<Response> {
    const { tools } = this.#answering;
    if (message.role === "assistant") {
      await decidedOf(memory, message, tools);
      return answer(
        memory,
        request,
        { mustExist: true, take: () => decide(memory, message, tools) },
        this.#answering,
      );
    }
    // The answer to what is asked differently, or again, is wanted no more. One that is over is nobody's to stop.
    if (await checkQuestion(memory, message, seen, parentId)) await memory.requestStop();
    const mustExist = isNewChatId(memory.id) ? await anchorOf(memory) : await memory.anchor();
    const take = () => ask(memory, message, seen, parentId);
    return answer(memory, request, { mustExist, take }, this.#answering);
  }

  #runModel({ messages, abortSignal }: Run): Running {
    const { model, tools, settings, onError } = this.#options;
    return streamText({
      stopWhen: stepCountIs(20),
      ...withSystem,
      onError: ({ error }: { error: unknown }) => onError(error),
      ...(settings as object | undefined),
      model: model as LanguageModel,
      messages,
      abortSignal,
      ...(tools && { tools }),
    }) as unknown as Running;
  }
}

/** Where a memory has system messages, they are the application's: none is taken from a browser. */
const withSystem = { allowSystemInMessages: true };

/** Where there is no chat, there is none to be resumed, and so it is with somebody else's. */
function nothingOfOthers(error: unknown): undefined {
  if (!isTurnkeepError(error, "OWNER_MISMATCH")) throw error;
}

/** An agent takes no `onError` for one run: its stream tells what the model fails with. */
async function runAgent(agent: ChatAgent, run: Run, onError: (error: unknown) => void): Promise<Running> {
  const running = (await agent.stream({ ...withSystem, ...run } as never)) as Running;
  return {
    toUIMessageStream: ({ messageMetadata, ...options }) =>
      running.toUIMessageStream({
        ...options,
        messageMetadata: (streamed) => {
          const { type, error } = streamed.part;
          if (type === "error") onError(error);
          return messageMetadata(streamed);
        },
      }),
  };
}
