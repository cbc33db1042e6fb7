import {
  type AppendEventRequest,
  BaseSessionService,
  type CompositeSessionKey,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  mergeStates,
  type Session,
  createSession as sessionOf,
  trimTempDeltaState,
} from "@google/adk";
import {
  type Anchor,
  type ChatMemories,
  type ChatMemoriesOptions,
  type ChatMemory,
  createChatMemories,
  entry,
  equalContent,
  isTurnkeepError,
  type MemoryTransaction,
  TurnkeepError,
} from "@turnkeep/core";
import { invalidMessage } from "@turnkeep/core/format-kit";
import { CallQueue, invalidOption, wrongOption } from "@turnkeep/core/store-kit";
import { stateEvent } from "./events.ts";
import { adkFormat } from "./format.ts";
import { memoryId, memoryOf } from "./keys.ts";
import { pageOf, sessionsOf } from "./listing.ts";
import { eventsOf, hiddenPrefix, recentOf, recordOf, type Step, stateOf } from "./record.ts";
import { isNothing, SharedState, scopesOf, untilAlone, type Values } from "./shared-state.ts";
import { touched, updateTimeOf } from "./update-time.ts";

/**
 * Options of {@link TurnkeepSessionService}: where the sessions are kept, and the window and processors of what a model is
 * shown of them. Those of `createChatMemories`, but what a record has to fix: nothing said leaves its history, and its
 * owners are ADK's users.
 */
export type TurnkeepSessionServiceOptions = Omit<
  ChatMemoriesOptions<Event>,
  "history" | "owner" | "profile" | "repair" | "systemFirst" | "systemMessages"
>;

/** What is known of a session that was handed out. */
interface Known {
  /** How far its events go. */
  readonly seq: number;
  /** That it, and the question being answered, are still there. */
  readonly anchor: Anchor;
}

/**
 * A session service of ADK's over Turnkeep memories: `new Runner({ sessionService })`. It is a record: `getSession` returns
 * everything that was said and not taken back, whatever the window shows. What a model is shown is `TurnkeepPlugin`'s.
 *
 * A session, what a user's sessions share (`user:`), and what an app's users share (`app:`) are a memory each. A memory's
 * owner is made of the app's name and the user's id, so that nobody's session is another's, whatever the ids.
 *
 * Errors of its calls: `ID_CONFLICT` for a session that exists already, `NOT_FOUND` for an event of a session that was deleted,
 * or whose question was taken back, `OWNER_MISMATCH` if a memory was assigned to somebody else, and those of a memory's
 * calls: `INVALID_MESSAGE`, `CORRUPT_RECORD`, `STORE_UNAVAILABLE`, `UNSUPPORTED` by a store that keeps no history.
 *
 * @example
 * ```ts
 * import { inMemoryStore } from "@turnkeep/core";
 * import { TurnkeepSessionService } from "@turnkeep/google-adk";
 *
 * const sessionService = new TurnkeepSessionService({ store: inMemoryStore(), window: { maxMessages: 40, unit: "turn" } });
 * const session = await sessionService.createSession({ appName: "weather", userId: "ann", state: { city: "Oslo" } });
 * const again = await sessionService.getSession({ appName: "weather", userId: "ann", sessionId: session.id });
 * ```
 */
export class TurnkeepSessionService extends BaseSessionService {
  /** The memories behind the sessions: `erase`, `prune`, `assign`, `fork`; `close` them at the end. */
  readonly memories: ChatMemories<Event>;
  readonly #shared: SharedState;
  readonly #known: WeakMap<Session, Known> = new WeakMap();
  /** Nodes of a workflow append to one session at once: the second goes on from what the first has made of it. */
  readonly #queues: WeakMap<Session, CallQueue> = new WeakMap();

  /** Reads nothing yet. Errors: `INVALID_OPTION`, also for a `profile`, which is an option of `TurnkeepPlugin`. */
  constructor(options: TurnkeepSessionServiceOptions) {
    super();
    if (Object.hasOwn(options, "profile")) {
      throw invalidOption(
        "A session service has no profile. Give it to new TurnkeepPlugin({ sessionService, profile }).",
      );
    }
    // ADK makes contents of the events, and pairs them; what it makes is repaired.
    this.memories = createChatMemories({ ...options, format: adkFormat, repair: false });
    this.#shared = new SharedState(this.memories);
  }

  /**
   * The memory of a session: its window, `explain`, `rewind`, `versions`. Reads nothing yet. Errors: `INVALID_OPTION` for
   * names of which no id can be made.
   */
  memory({ appName, userId, sessionId }: CompositeSessionKey): ChatMemory<Event> {
    const names = { appName, userId, sessionId };
    checkNames(names);
    return memoryOf(this.memories, names);
  }

  /** The owner of a user's memories, for `list`, `erase`, `assign` and `prune` of the memories. Errors: `INVALID_OPTION`. */
  owner({ appName, userId }: Pick<CompositeSessionKey, "appName" | "userId">): string {
    checkNames({ appName, userId });
    return memoryId({ appName, userId });
  }

  /** Begins a session; keys of `state` that begin with `temp:` are left out. Errors: `ID_CONFLICT` if it exists already. */
  override async createSession({
    appName,
    userId,
    state,
    sessionId,
  }: CreateSessionRequest): Promise<Session> {
    const names = { appName, userId, sessionId: sessionId || crypto.randomUUID() };
    const memory = this.memory(names);
    const scopes = scopesOf(state);
    if ((await memory.data()) !== undefined) throw alreadyThere(names.sessionId);
    await this.#shared.write(names, scopes);
    await memory.transaction((transaction) => {
      transaction.update((before) => {
        if (before !== undefined) throw alreadyThere(names.sessionId);
        return touched(Date.now())(before);
      });
      addState(transaction, scopes.session);
    });
    return (await this.#session(names)) as Session;
  }

  /** A copy of the session as it is now; `undefined` if there is none. */
  override async getSession({ config, ...names }: GetSessionRequest): Promise<Session | undefined> {
    const session = await this.#session(names);
    if (session !== undefined && config !== undefined) session.events = recentOf(session.events, config);
    return session;
  }

  /** The sessions of a user, or, without one, of every user of the app, without events and states. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    return pageOf(await sessionsOf(this.memories, request), request);
  }

  /** Deletes the session with all that was ever said in it. What its user's and app's sessions share stays. */
  override async deleteSession(names: DeleteSessionRequest): Promise<void> {
    await this.memory(names).clear();
  }

  /**
   * Stores the event and what it sets at once, and adds both to the session, after what others have stored meanwhile. A
   * partial event is not stored, nor are keys that begin with `temp:`. Errors: `NOT_FOUND` if the session is not there.
   */
  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    if (event.partial) return event;
    const queue = this.#queues.get(session) ?? new CallQueue();
    this.#queues.set(session, queue);
    return queue.run(() => this.#append(session, trimTempDeltaState(event)));
  }

  async #append(session: Session, event: Event): Promise<Event> {
    if (event.id?.startsWith(hiddenPrefix))
      throw invalidMessage("has an id of Turnkeep's own", "Give another.");
    const names = { appName: session.appName, userId: session.userId, sessionId: session.id };
    const memory = this.memory(names);
    const scopes = scopesOf(event.actions?.stateDelta);
    if (!isNothing(scopes.app) || !isNothing(scopes.user)) {
      await this.#checkTakes(memory, session, event);
      await this.#shared.write(names, scopes);
    }
    await this.#store(memory, session, event, scopes.session);
    await this.#catchUp(memory, session, event);
    session.lastUpdateTime = event.timestamp;
    return event;
  }

  async #session(names: CompositeSessionKey): Promise<Session | undefined> {
    const memory = this.memory(names);
    const data = await memory.data();
    if (data === undefined) return undefined;
    const anchor = await memory.anchor().catch(unlessGone);
    if (anchor === undefined) return undefined;
    const [record, shared] = await Promise.all([recordOf(memory), this.#shared.read(names)]);
    const events = eventsOf(record);
    const session = sessionOf({
      id: names.sessionId,
      appName: names.appName,
      userId: names.userId,
      state: mergeStates(shared.app, shared.user, stateOf(record)),
      events,
      lastUpdateTime: updateTimeOf(data) ?? events.at(-1)?.timestamp ?? 0,
    });
    this.#known.set(session, { seq: record.seq, anchor });
    return session;
  }

  /** What is shared is stored before the event, and not for one that will be refused. */
  async #checkTakes(memory: ChatMemory<Event>, session: Session, event: Event): Promise<void> {
    adkFormat.encode(event);
    const known = this.#known.get(session)?.anchor;
    const now = await memory.anchor(known?.messageId).catch(unlessGone);
    const isThere = now !== undefined && (known === undefined || equalContent(now, known));
    if (!isThere) throw notThere(session.id);
  }

  async #store(memory: ChatMemory<Event>, session: Session, event: Event, own: Values): Promise<void> {
    const mustExist = this.#known.get(session)?.anchor ?? true;
    const add = (transaction: MemoryTransaction<Event>): void => {
      transaction.add(entry(event, { id: event.id }));
      transaction.update(touched(event.timestamp));
    };
    try {
      await memory.transaction(add, { mustExist });
    } catch (error) {
      if (isTurnkeepError(error, "NOT_FOUND")) throw notThere(session.id, error);
      if (!isTurnkeepError(error, "ID_CONFLICT")) throw error;
      await replace(memory, event, own, mustExist);
    }
  }

  /** Adds the event, and what others have stored since the session was read, unless somebody else made the session. */
  async #catchUp(memory: ChatMemory<Event>, session: Session, event: Event): Promise<void> {
    const known = this.#known.get(session);
    if (known === undefined) return void (await super.appendEvent({ session, event }));
    const { steps, seq } = await recordOf(memory, known.seq);
    const isOwn = (step: Step): boolean => step.event?.id === event.id;
    const at = steps.findIndex(isOwn);
    const add = (others: readonly Step[]): void => {
      for (const { event, delta } of others) {
        if (event !== undefined) session.events.push(event);
        set(session.state, delta);
      }
    };
    add(at < 0 ? steps : steps.slice(0, at));
    await super.appendEvent({ session, event });
    if (at >= 0) add(steps.slice(at + 1));
    const anchor = event.author === "user" ? await memory.anchor(event.id) : known.anchor;
    this.#known.set(session, { seq, anchor });
  }
}

/** The event of that id as it is now, in its place; what it set before, and sets now, in its order. */
function replace(
  memory: ChatMemory<Event>,
  event: Event,
  own: Values,
  mustExist: Anchor | true,
): Promise<void> {
  return untilAlone(() =>
    memory.transaction(
      async (transaction) => {
        const record = await recordOf(memory);
        const state = stateOf(record);
        const before = eventsOf(record).find(({ id }) => id === event.id);
        const keys = Object.keys(scopesOf(before?.actions.stateDelta).session);
        transaction.put(event.id, event);
        addState(
          transaction,
          Object.assign(scopesOf(Object.fromEntries(keys.map((key) => [key, state[key]]))).session, own),
        );
        transaction.update(touched(event.timestamp));
      },
      { mustExist, onConflict: "throw" },
    ),
  );
}

/** Sets something in the session's state that no event of its own tells. */
function addState(transaction: MemoryTransaction<Event>, values: Values): void {
  if (isNothing(values)) return;
  transaction.add(entry(stateEvent(values), { id: `${hiddenPrefix}${crypto.randomUUID()}` }));
}

function set(state: Values, delta: Values): void {
  for (const [key, value] of Object.entries(delta)) {
    Object.defineProperty(state, key, { value, writable: true, enumerable: true, configurable: true });
  }
}

/** A name that is missing would make the id of what a user's or app's sessions share. */
function checkNames(names: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(names)) {
    if (typeof value !== "string") throw wrongOption(name, value, "a string");
  }
}

function unlessGone(error: unknown): undefined {
  if (!isTurnkeepError(error, "NOT_FOUND")) throw error;
}

function alreadyThere(id: string): TurnkeepError {
  return new TurnkeepError(
    "ID_CONFLICT",
    `Session with id ${id} already exists. Get it, or give another id.`,
  );
}

function notThere(id: string, cause?: unknown): TurnkeepError {
  const why = "It was never created, was deleted, or its question was taken back.";
  return new TurnkeepError("NOT_FOUND", `Session ${id} not found for appendEvent. ${why}`, { cause });
}
