/**
 * For the browser: what `useChat` asks `chatHandler` through. It loads nothing but the AI SDK.
 *
 * @module
 */
import {
  APICallError,
  type ChatTransport,
  DefaultChatTransport,
  type HttpChatTransportInitOptions,
  isToolUIPart,
  type UIMessage,
  type UIMessageChunk,
} from "ai";

type Init = HttpChatTransportInitOptions<UIMessage>;

/** Options of {@link chatTransport}: some of the SDK's, and what it has not. */
export interface ChatTransportOptions {
  /** Where `chatHandler` is mounted. Default: `/api/chat`. */
  readonly api?: string | undefined;
  /** Which cookies are sent. Default: `same-origin`. */
  readonly credentials?: Init["credentials"] | undefined;
  /** Headers of each request, or a function that gives them. */
  readonly headers?: Init["headers"] | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: Init["fetch"] | undefined;
  /** The id of the newest message that the page began with, if it did not come by `history`. */
  readonly seen?: string | undefined;
}

/** What is said of a chat. */
export interface ChatInfo {
  readonly id: string;
  readonly title?: string;
  readonly archived?: boolean;
}

/** A page of chats; with `cursor` comes the next. `updatedAt`: milliseconds since the epoch. */
export interface ListedChats {
  readonly chats: (ChatInfo & { readonly updatedAt: number })[];
  readonly cursor?: string;
}

/** All that was said in a chat. */
export interface MessageTree<M extends UIMessage> {
  /**
   * In the order in which it was said, each with the id of the message that it follows; `null`: none. Those with the same are
   * versions of one another.
   */
  readonly messages: { readonly parentId: string | null; readonly message: M }[];
  /** The newest message of the conversation as it stands. */
  readonly headId?: string;
}

/** A page of a chat; with `before` comes the page before. */
export interface MessagePage<M extends UIMessage> {
  messages: M[];
  before?: number;
  /**
   * Of the messages that were edited or answered again, by their ids: what stood in their place, in the order in which it
   * was said, and the index of what is shown.
   */
  versions?: Record<string, { readonly ids: readonly string[]; readonly shown: number }>;
}

/**
 * The transport of a chat, with what `useChat` has no call for. Errors: for what the server refused the SDK's `APICallError`, with
 * the server's sentence and the `statusCode`, such as 413 for a question that is too long; else those of `fetch`.
 */
export interface TurnkeepChatTransport<M extends UIMessage> extends ChatTransport<M> {
  /** The newest messages of a chat, oldest first; with `before`, the page before that. */
  history(chatId: string, query?: { readonly before?: number }): Promise<MessagePage<M>>;
  /**
   * Switches to a version of a message ({@link MessagePage.versions}), with what followed it: the newest messages that are
   * then there, for `setMessages`. An answer that is being made ends.
   */
  restoreVersion(chatId: string, versionId: string): Promise<MessagePage<M>>;
  /** All that was said in a chat, what was edited or answered again among it, for a page that shows branches. */
  tree(chatId: string): Promise<MessageTree<M>>;
  /** A page of the user's chats, newest first if the store can. */
  list(query?: { readonly cursor?: string }): Promise<ListedChats>;
  /** Ends the answer that is being made, whoever asked. `useChat`'s `stop` does so too. */
  stop(chatId: string): Promise<void>;
  /** A chat as `list` has it. */
  chat(chatId: string): Promise<ChatInfo>;
  /** Gives a chat another title, 1 to 200 characters, or puts it away, which `list` says of it. */
  updateChat(
    chatId: string,
    change: { readonly title?: string; readonly archived?: boolean },
  ): Promise<ChatInfo>;
  /** Deletes a chat. */
  deleteChat(chatId: string): Promise<void>;
  /** Deletes a message of a chat. */
  deleteMessage(chatId: string, messageId: string): Promise<void>;
}

type SendOptions<M extends UIMessage> = Parameters<ChatTransport<M>["sendMessages"]>[0];
type ReconnectOptions<M extends UIMessage> = Parameters<ChatTransport<M>["reconnectToStream"]>[0];
type Chunks = ReadableStream<UIMessageChunk>;
type Followed = { readonly chatId: string; readonly abortSignal?: AbortSignal | undefined };

/**
 * The transport for `useChat` with `chatHandler` on the server: it posts the newest message alone, and of an answer only what the
 * user decides on its calls. When `stop` is called, the server stops too; a page that is closed or loaded anew stops no answer,
 * and shows it again with `resume: true`.
 *
 * @example
 * ```ts
 * import { chatTransport } from "@turnkeep/ai-sdk/client";
 *
 * const transport = chatTransport(); // for useChat({ id, transport, messages, resume: true })
 * const { messages } = await transport.history("chat-1");
 * ```
 */
export function chatTransport<M extends UIMessage = UIMessage>(
  options: ChatTransportOptions = {},
): TurnkeepChatTransport<M> {
  return new Transport<M>(options);
}

class Transport<M extends UIMessage> extends DefaultChatTransport<M> implements TurnkeepChatTransport<M> {
  readonly #options: ChatTransportOptions;
  /** The newest message that is shown, by chat. */
  readonly #seen = new Map<string, string>();
  /** The answer of which the page may have a part alone, by chat: loaded while it was being made, or cut off. */
  readonly #partial = new Map<string, string>();
  /** Anew once an answer begins or a message is deleted, by chat: a page that was asked for before knows nothing of it. */
  readonly #changes = new Map<string, object>();
  /** By which a request that follows another at once is known, by chat. */
  readonly #requests = new Map<string, object>();
  readonly #stopping = new Map<string, Promise<unknown>>();

  constructor({ seen, ...options }: ChatTransportOptions) {
    super({
      ...given(options),
      fetch: (url, init) => this.#fetch(url, init),
      prepareSendMessagesRequest: ({ id, messages, body, trigger }) => {
        const message = said(messages.at(-1) as M);
        // A page that shows branches adds the `parentId`.
        return { body: { ...body, id, message, trigger, seen: body?.seen ?? this.#seen.get(id) ?? seen } };
      },
      prepareReconnectToStreamRequest: ({ id, api }) => {
        const shown = this.#partial.get(id);
        const path = api + pathOf(id, "stream");
        return { api: shown === undefined ? path : `${path}?shown=${encodeURIComponent(shown)}` };
      },
    });
    this.#options = options;
  }

  override async sendMessages(options: SendOptions<M>): Promise<Chunks> {
    const request = this.#begin(options);
    // What follows is another answer, or this one anew.
    this.#partial.delete(options.chatId);
    // Else it could end the answer to this message.
    await this.#stopping.get(options.chatId);
    return this.#followed(options, request, () => super.sendMessages(options));
  }

  override async reconnectToStream(options: ReconnectOptions<M>): Promise<Chunks | null> {
    const request = this.#begin(options);
    const chunks = await this.#followed(options, request, () => super.reconnectToStream(options));
    const isNewest = request === this.#requests.get(options.chatId);
    if (chunks === null && isNewest) this.#partial.delete(options.chatId);
    return chunks;
  }

  #begin({ chatId }: Followed): object {
    const request = {};
    this.#requests.set(chatId, request);
    return request;
  }

  async history(chatId: string, { before }: { readonly before?: number } = {}) {
    const change = this.#changes.get(chatId);
    const query = before === undefined ? "" : `?before=${before}`;
    const page = (await this.#call("GET", pathOf(chatId) + query)) as MessagePage<M>;
    if (before === undefined) this.#noteNewest(chatId, page.messages.at(-1), change);
    return page;
  }

  async restoreVersion(chatId: string, versionId: string) {
    const change = this.#changes.get(chatId);
    const path = pathOf(chatId, "versions", versionId);
    const page = (await this.#call("POST", path)) as MessagePage<M>;
    this.#noteNewest(chatId, page.messages.at(-1), change);
    return page;
  }

  /** Notes the newest message as shown, unless something has changed since it was asked for. */
  #noteNewest(chatId: string, newest: M | undefined, change: object | undefined): void {
    if (newest === undefined || change !== this.#changes.get(chatId)) return;
    this.#seen.set(chatId, newest.id);
    if (isBeingMade(newest)) this.#partial.set(chatId, newest.id);
    else this.#partial.delete(chatId);
  }

  async tree(chatId: string) {
    const change = this.#changes.get(chatId);
    const tree = (await this.#call("GET", pathOf(chatId, "tree"))) as MessageTree<M>;
    const head = tree.messages.find(({ message }) => message.id === tree.headId);
    this.#noteNewest(chatId, head?.message, change);
    return tree;
  }

  async list({ cursor }: { readonly cursor?: string } = {}) {
    const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    return (await this.#call("GET", query)) as ListedChats;
  }

  async stop(chatId: string): Promise<void> {
    await this.#call("POST", pathOf(chatId, "stop"));
  }

  async chat(chatId: string) {
    return (await this.#call("GET", pathOf(chatId, "about"))) as ChatInfo;
  }

  async updateChat(
    chatId: string,
    { title, archived }: { readonly title?: string; readonly archived?: boolean },
  ) {
    return (await this.#call("POST", pathOf(chatId, "about"), { title, archived })) as ChatInfo;
  }

  async deleteChat(chatId: string): Promise<void> {
    await this.#call("DELETE", pathOf(chatId));
  }

  async deleteMessage(chatId: string, messageId: string): Promise<void> {
    const isSeen = this.#seen.get(chatId) === messageId;
    const page = isSeen ? ((await this.#call("GET", pathOf(chatId))) as MessagePage<M>) : undefined;
    await this.#call("DELETE", pathOf(chatId, "messages", messageId));
    // What another tab has said behind it is not seen by that.
    const [before, newest] = page?.messages.slice(-2) ?? [];
    if (before !== undefined && newest?.id === messageId) this.#noteChange(chatId, before.id);
  }

  #noteChange(chatId: string, newestId: string): void {
    this.#seen.set(chatId, newestId);
    this.#changes.set(chatId, {});
  }

  /** Notes the answer as shown, and stops it where the user does. A request that takes another's place is no stop. */
  async #followed<C extends Chunks | null>(
    { chatId, abortSignal }: Followed,
    request: object,
    send: () => Promise<C>,
  ): Promise<C> {
    const onAbort = (): void => {
      const stopping = Promise.resolve()
        .then(() => (request === this.#requests.get(chatId) ? this.stop(chatId) : undefined))
        .catch(() => undefined);
      this.#stopping.set(chatId, stopping);
    };
    abortSignal?.addEventListener("abort", onAbort, { once: true });
    const noted = new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform: (chunk, controller) => {
        this.#noteChunk(chatId, chunk);
        controller.enqueue(chunk);
      },
      flush: () => abortSignal?.removeEventListener("abort", onAbort),
    });
    const chunks = await send();
    return (chunks?.pipeThrough(noted) ?? null) as C;
  }

  /** An answer is whole once it says so: a connection that is cut may end like any other. */
  #noteChunk(chatId: string, chunk: UIMessageChunk): void {
    if (chunk.type === "start" && chunk.messageId !== undefined) {
      this.#noteChange(chatId, chunk.messageId);
      this.#partial.set(chatId, chunk.messageId);
    }
    if (chunk.type === "finish" || chunk.type === "abort" || chunk.type === "error")
      this.#partial.delete(chatId);
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const { api = "/api/chat" } = this.#options;
    const [headers, credentials] = await Promise.all([
      resolved(this.#options.headers),
      resolved(this.#options.credentials),
    ]);
    const sent = new Headers(headers);
    sent.set("content-type", "application/json");
    const init = {
      method,
      headers: sent,
      ...(credentials && { credentials }),
      ...(body && { body: JSON.stringify(body) }),
    };
    const text = await (await this.#fetch(api + path, init)).text();
    return text === "" ? undefined : JSON.parse(text);
  }

  /** All requests go through it, so that both majors tell alike what was refused. */
  async #fetch(...request: Parameters<typeof globalThis.fetch>): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#options;
    const response = await fetch(...request);
    if (response.ok) return response;
    const responseBody = await response.text();
    throw new APICallError({
      message: sentenceIn(responseBody),
      url: response.url,
      requestBodyValues: undefined,
      statusCode: response.status,
      responseBody,
    });
  }
}

/** Below `api`, each name a segment. No encoding keeps `fetch` from reading dots as a way up, to another route. */
function pathOf(...names: readonly string[]): string {
  const way = names.find((name) => /^\.{0,2}$/.test(name));
  if (way !== undefined) throw new TypeError(`${JSON.stringify(way)} is no id of a chat or a message.`);
  return names.map((name) => `/${encodeURIComponent(name)}`).join("");
}

async function resolved<T>(
  given: T | PromiseLike<T> | (() => T | PromiseLike<T>) | undefined,
): Promise<T | undefined> {
  return typeof given === "function" ? (given as () => T | PromiseLike<T>)() : given;
}

function said<M extends UIMessage>({ id, role, parts }: M): object {
  return { id, role, parts: role === "assistant" ? parts.flatMap(decisionIn) : parts };
}

/** What the user decides on a call, without its input: the server has that, and a request could be too small for it. */
function decisionIn(part: UIMessage["parts"][number]): object[] {
  if (!isToolUIPart(part) || part.state !== "approval-responded") return [];
  const {
    type,
    state,
    approval: { id, approved, reason },
  } = part;
  return [{ type, state, approval: { id, approved, reason } }];
}

function isBeingMade({ metadata }: UIMessage): boolean {
  return (metadata as { readonly status?: unknown } | undefined)?.status === "streaming";
}

/** What the server says where it refuses a request: `{ error }`, or else all of it. */
function sentenceIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === "string" ? error : text;
  } catch {
    return text;
  }
}

/** Without members that are `undefined`, which the SDK's types do not know. */
function given(
  options: Omit<ChatTransportOptions, "seen">,
): Pick<Init, "api" | "credentials" | "fetch" | "headers"> {
  const members = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members);
}
