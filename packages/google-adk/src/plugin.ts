import {
  BasePlugin,
  CONTENT_REQUEST_PROCESSOR,
  type Context,
  type Event,
  type InvocationContext,
  type LlmRequest,
} from "@google/adk";
import { type ProviderProfile, viewOf } from "@turnkeep/core";
import { type Fields, invalidOption, optional, such, takeOptions } from "@turnkeep/core/store-kit";
import { geminiFormat } from "@turnkeep/formats/gemini";
import { exchanged } from "./exchange.ts";
import { TurnkeepSessionService } from "./session-service.ts";

/** Options of {@link TurnkeepPlugin}. */
export interface TurnkeepPluginOptions {
  /** The runner's. Its window and processors apply. */
  readonly sessionService: TurnkeepSessionService;
  /** What the model accepts, such as `gemini` of `@turnkeep/formats/profiles`. Default: calls and results stand in pairs. */
  readonly profile?: ProviderProfile | undefined;
}

const fields = {
  sessionService: such<TurnkeepSessionService>(
    "a TurnkeepSessionService",
    (value) => value instanceof TurnkeepSessionService,
  ),
  profile: optional(
    such<ProviderProfile>("a profile", (value) => typeof value === "object" && value !== null),
  ),
} satisfies Fields<TurnkeepPluginOptions>;

type Contents = LlmRequest["contents"];

/**
 * A plugin for a runner over a `TurnkeepSessionService`: before each model call of any of its agents, the request's contents
 * are made of the events that the session's memory shows: its window, the question that is being answered whatever that keeps,
 * through its processors. ADK itself makes contents of
 * them, so what an agent sees of others stays ADK's; then every call has a result, and the list is one that the `profile`
 * accepts. What tools and other plugins have added to the request, or changed in it, stays.
 *
 * What a live run (`runLive`) opens with, the whole record, and a request that goes on from an earlier interaction stay as they are.
 *
 * ADK makes an error of a plugin the answer: an event with an `errorMessage` that names it, such as `WINDOW_OVERFLOW`.
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from "@google/adk";
 * import { inMemoryStore } from "@turnkeep/core";
 * import { gemini } from "@turnkeep/formats/profiles";
 * import { TurnkeepPlugin, TurnkeepSessionService } from "@turnkeep/google-adk";
 *
 * const sessionService = new TurnkeepSessionService({ store: inMemoryStore(), window: { maxMessages: 40, unit: "turn" } });
 * const runner = new Runner({
 *   appName: "weather",
 *   agent: new LlmAgent({ name: "weather", model: "gemini-flash-latest" }),
 *   sessionService,
 *   plugins: [new TurnkeepPlugin({ sessionService, profile: gemini })],
 * });
 * ```
 */
export class TurnkeepPlugin extends BasePlugin {
  readonly #sessions: TurnkeepSessionService;
  readonly #profile: ProviderProfile | undefined;

  /** Errors: `INVALID_OPTION`. */
  constructor(options: TurnkeepPluginOptions) {
    super("turnkeep");
    const { sessionService, profile } = takeOptions("TurnkeepPlugin's options", fields, options);
    this.#sessions = sessionService;
    this.#profile = profile;
  }

  override async beforeModelCallback(request: {
    readonly callbackContext: Context;
    readonly llmRequest: LlmRequest;
  }): Promise<undefined> {
    const { callbackContext, llmRequest } = request;
    if (llmRequest.previousInteractionId !== undefined) return;
    const { invocationContext: context } = callbackContext;
    if (context.sessionService !== this.#sessions) {
      throw invalidOption("The runner's sessionService is not the plugin's. Give both the same.");
    }
    const { appName, userId, id: sessionId, events } = context.session;
    const { abortSignal: signal } = context;
    const pinned = events.findLast(isQuestion)?.id;
    const kept = await this.#sessions
      .memory({ appName, userId, sessionId })
      .messages({ pinned: pinned === undefined ? [] : [pinned], signal });
    const all = await contentsOf(context, events);
    const contents = exchanged(llmRequest.contents, all, await contentsOf(context, kept));
    const profile = this.#profile;
    const shown = await viewOf(contents, { format: geminiFormat, profile, openCalls: "approved", signal });
    // What a view holds is frozen, and models write into theirs.
    llmRequest.contents = structuredClone(shown) as Contents;
  }
}

/** Whether a user has said something, rather than answered a call of the model's. */
function isQuestion({ author, content }: Event): boolean {
  return (
    author === "user" &&
    content?.parts?.some(({ functionResponse }) => functionResponse === undefined) === true
  );
}

/** What ADK makes of these events for the agent that runs. */
async function contentsOf(context: InvocationContext, events: Event[]): Promise<Contents> {
  const made: LlmRequest = { contents: [], toolsDict: {}, liveConnectConfig: {} };
  const session = { value: { ...context.session, events } };
  for await (const _ of CONTENT_REQUEST_PROCESSOR.runAsync(Object.create(context, { session }), made));
  return made.contents;
}
