import {
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemory,
  entry,
  type HistoryPage,
  inMemoryStore,
  isTurnkeepError,
  type MemorySnapshot,
  type ModelMessage,
  system,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";

export type Memory = ChatMemory<ModelMessage>;
export type Policy = Pick<ChatMemoryOptions<ModelMessage>, "window" | "history">;

/** One call, as a random sequence has it; `place` names a message by its place in history when the call begins. */
export interface Act {
  readonly kind:
    | "add"
    | "add under ids"
    | "add a system message"
    | "add a step"
    | "put"
    | "set"
    | "compact"
    | "clear"
    | "transaction"
    | "transaction that reads"
    | "edit"
    | "put and remove"
    | "rewind"
    | "restore"
    | "remove"
    | "shrink"
    | "messages"
    | "history";
  readonly place: number;
  readonly text: string;
  readonly fates: readonly Fate[];
  /** Whether the caller's signal fires, at a moment of the scheduler's choice. */
  readonly ends: boolean;
}

/** What becomes of an update: as asked, made but its answer lost, never made. */
export type Fate = "fine" | "lost" | "refused";

/** Everything that is stored of the memory at one moment. */
export interface Stored {
  readonly snapshot: MemorySnapshot;
  readonly rows: HistoryPage["messages"];
}

/** What came of a call: what it answered, or the code of its error. */
export interface Outcome {
  readonly answer?: unknown;
  readonly code?: string;
}

/** Something that reached the store, in the order in which it did. */
interface Step {
  readonly by: Running;
  readonly before: Promise<Stored>;
  readonly after: Promise<Stored>;
}

/** A call under way, or ended. */
export interface Running {
  readonly client: Client;
  readonly act: Act;
  readonly targetId: string;
  /** How many steps there were when it began, and when it ended. */
  readonly begun: number;
  ended: number;
  outcome: Outcome;
  /** For a call that decides on what its caller has seen: the number of steps by then. */
  decidedAt?: number | undefined;
  /** For such a call: its instance may have decided on what it had read without a look, or on what it read later. */
  isUnsure: boolean;
}

/** Calls that plan a change on what their instance has read, if it has read anything. */
const plans = new Set<Act["kind"]>([
  "add",
  "add under ids",
  "add a system message",
  "add a step",
  "put",
  "compact",
  "transaction",
  "edit",
  "put and remove",
  "rewind",
  "restore",
  "remove",
  "shrink",
]);

const id = "m";

/** One memory in one store, all that several clients do to it, and what the store held after each change. */
export class Race {
  readonly raw: ChatMemoryStore = inMemoryStore();
  readonly steps: Step[] = [];
  readonly calls: Running[] = [];
  readonly wait: (label: string) => Promise<void>;
  readonly policy: Policy;

  constructor(policy: Policy, wait: (label: string) => Promise<void>) {
    this.policy = policy;
    this.wait = wait;
  }

  /** The store does its work before it first waits, so these two answer for one moment. */
  async stored(): Promise<Stored> {
    const both = [this.raw.getMessages(id), this.raw.getHistory(id, { limit: 1000 })] as const;
    const [snapshot, { messages: rows }] = await Promise.all(both);
    return { snapshot, rows };
  }

  /** Lets something take effect, and remembers what was there before and after. */
  async step(by: Running, effect: () => Promise<void>): Promise<void> {
    const before = this.stored();
    const made = effect();
    this.steps.push({ by, before, after: this.stored() });
    await made;
  }

  /** What was stored at each moment between two numbers of steps. */
  async between(first: number, last: number): Promise<Stored[]> {
    const empty: Stored = { snapshot: { version: null, nextSeq: 1, messages: [] }, rows: [] };
    const moments: Stored[] = first === 0 ? [empty] : [];
    for (const { after } of this.steps.slice(Math.max(0, first - 1), last)) moments.push(await after);
    return moments;
  }
}

/** A process with an instance of the memory, which makes one call after another. */
export class Client {
  readonly memory: Memory;
  readonly #race: Race;
  #fates: Fate[] = [];
  #running: Running | undefined;
  /** The number of steps at the newest read. */
  #lastRead = 0;
  /** The same at the newest look; `undefined` before the first read. */
  #looked: number | undefined;
  /** The same at a read that nobody was shown, where there was no look before: the next change is planned on it. */
  #unseen: number | undefined;
  #isUnsure = false;

  constructor(race: Race) {
    this.#race = race;
    this.memory = open(this.#connect(race), race.policy, async () => race.wait("limit asked"));
  }

  async run(act: Act): Promise<void> {
    const race = this.#race;
    const { rows } = await race.stored();
    const targetId = rows[act.place % (rows.length || 1)]?.id ?? "none";
    const begun = race.steps.length;
    if (plans.has(act.kind)) this.#looked ??= this.#unseen;
    const isUnsure = this.#isUnsure;
    const running: Running = { client: this, act, targetId, begun, ended: begun, outcome: {}, isUnsure };
    race.calls.push(running);
    this.#running = running;
    this.#fates = [...act.fates];
    const controller = new AbortController();
    if (act.ends) race.wait("signal fires").then(() => controller.abort());
    const looked = this.#looked;
    if (act.kind === "set") running.decidedAt = looked;
    const onRead = (): void => {
      running.decidedAt ??= this.#lastRead;
    };
    running.outcome = await outcomeOf(this.memory, act, targetId, controller.signal, onRead);
    running.ended = race.steps.length;
    const { code } = running.outcome;
    if (act.kind === "set") running.decidedAt ??= this.#looked;
    // Who was not shown what was read has not looked.
    if (code === "ABORTED" && looked === undefined) this.#unseen = this.#looked;
    if (code === "ABORTED" && plans.has(act.kind) && this.#unseen !== undefined) this.#isUnsure = true;
    if (act.kind === "messages") this.#looked = code === "ABORTED" ? looked : this.#lastRead;
    if (act.kind === "transaction that reads")
      this.#looked = running.decidedAt ?? (code === "ABORTED" ? looked : this.#looked);
    if (act.kind === "clear" && code === undefined) this.#looked = this.#lastRead;
    if (code !== undefined || act.kind === "history") return;
    this.#unseen = undefined;
    if (!plans.has(act.kind)) this.#isUnsure = false;
  }

  #connect({ raw, wait, policy }: Race): ChatMemoryStore {
    const race = this.#race;
    const fail = (): never => {
      throw new TurnkeepError("STORE_UNAVAILABLE", "no answer");
    };
    return {
      ...raw,
      capabilities: { ...raw.capabilities, history: policy.history !== false },
      getMessages: async (memoryId, options) => {
        options?.signal?.throwIfAborted();
        await wait("read asked");
        const read = raw.getMessages(memoryId, { known: options?.known });
        const at = race.steps.length;
        const snapshot = await read;
        await wait("read answered");
        if (options?.signal?.aborted === true) return snapshot;
        this.#lastRead = at;
        this.#looked ??= at;
        return snapshot;
      },
      getHistory: async (memoryId, query, options) => {
        options?.signal?.throwIfAborted();
        if (policy.history === false) throw new TurnkeepError("UNSUPPORTED", "no history");
        await wait("history asked");
        const page = await raw.getHistory(memoryId, query);
        await wait("history answered");
        return page;
      },
      updateMessages: async (memoryId, update, options) => {
        options?.signal?.throwIfAborted();
        const running = this.#running as Running;
        const fate = this.#fates.shift() ?? "fine";
        await wait("write asked");
        if (fate === "refused") fail();
        await race.step(running, () => raw.updateMessages(memoryId, update));
        await wait("write answered");
        if (fate === "lost") fail();
      },
      deleteMessages: async (memoryId, options) => {
        options?.signal?.throwIfAborted();
        const running = this.#running as Running;
        await wait("delete asked");
        const deleted = race.step(running, () => raw.deleteMessages(memoryId));
        const at = race.steps.length;
        await deleted;
        await wait("delete answered");
        if (options?.signal?.aborted !== true) this.#lastRead = at;
      },
    };
  }
}

function open(store: ChatMemoryStore, { window, history }: Policy, wait?: () => Promise<void>): Memory {
  const maxMessages = window?.maxMessages;
  const waiting = async (): Promise<number> => {
    await wait?.();
    return maxMessages as number;
  };
  const asked = window === undefined ? undefined : { ...window, maxMessages: waiting };
  return createChatMemory({ id, store, history, window: asked as typeof window });
}

async function outcomeOf(
  memory: Memory,
  act: Act,
  targetId: string,
  signal: AbortSignal,
  onRead: () => void = () => {},
): Promise<Outcome> {
  try {
    return { answer: await call(memory, act, targetId, signal, onRead) };
  } catch (error) {
    if (isTurnkeepError(error)) return { code: error.code };
    throw error;
  }
}

function call(
  memory: Memory,
  { kind, place, text }: Act,
  targetId: string,
  signal: AbortSignal,
  onRead: () => void,
): Promise<unknown> {
  const message = user(text);
  const options = { signal };
  const ids = ["x", "y", "z"].slice(place % 3);
  const own = ids.map((ownId) => entry(message, { id: ownId }));
  const collect = async (reads: boolean): Promise<unknown> =>
    memory.transaction(async (transaction) => {
      if (reads) {
        await transaction.messages();
        onRead();
      }
      transaction.add(...(place % 2 === 0 ? own : [message, ...own]));
    }, options);
  const step = [toolCall(text, "t", {}), toolResult(text, "t", text)] as const;
  switch (kind) {
    case "add":
      return memory.add(message, user("more"));
    case "add under ids":
      return memory.add(...own);
    case "add a system message":
      return memory.add(system(text));
    case "add a step":
      return place % 2 === 0 ? memory.add(...step) : memory.add(step[0]);
    case "put":
      return memory.put(place % 4 === 0 ? targetId : (ids[0] as string), message, options);
    case "set":
      return memory.set(place % 2 === 0 ? [message] : own, options);
    case "compact":
      return memory.compact({ through: targetId, replacement: user(`sum of ${text}`) }, options);
    case "clear":
      return memory.clear(options);
    case "transaction":
      return collect(false);
    case "transaction that reads":
      return collect(true);
    case "edit":
      return memory.transaction((edit) => {
        edit.rewind(targetId);
        edit.add(...(place % 2 === 0 ? own : [message, user("more")]));
      }, options);
    case "put and remove":
      return memory.transaction((change) => {
        change.put(ids[0] as string, message);
        change.remove(targetId);
      }, options);
    case "rewind":
      return memory.rewind(targetId, options);
    case "restore":
      return memory.restore(targetId, options);
    case "remove":
      return memory.remove(targetId, options);
    case "shrink":
      return memory.shrink({ signal });
    case "messages":
      return memory.messages(options);
    case "history":
      return memory.history({ limit: 1000, signal });
  }
}

/** What the same call comes to when it is alone with what was stored at a moment. */
export async function alone(
  { snapshot, rows }: Stored,
  { act, targetId }: Running,
  policy: Policy,
): Promise<Outcome & { readonly after: Stored }> {
  const race = new Race(policy, async () => {});
  const { version, nextSeq, head } = snapshot;
  if (version !== null) {
    const append = rows.map(({ state: _, ...message }) => message);
    const move = rows.filter(({ state }) => state !== "live").map(({ seq, state }) => ({ seq, to: state }));
    await race.raw.updateMessages(id, { expected: null, version, nextSeq, head, append, replace: [], move });
  }
  const store: ChatMemoryStore = {
    ...race.raw,
    capabilities: { ...race.raw.capabilities, history: policy.history !== false },
    getHistory: (...given) => {
      if (policy.history === false) throw new TurnkeepError("UNSUPPORTED", "no history");
      return race.raw.getHistory(...given);
    },
  };
  const outcome = await outcomeOf(open(store, policy), act, targetId, new AbortController().signal);
  return { ...outcome, after: await race.stored() };
}

/** What is stored, but for what two runs of one call differ in: versions, and times, ids and marks of what it added. */
export function essence({ snapshot, rows }: Stored, before: Stored): unknown {
  const known = new Set(before.rows.map((row) => row.id));
  const kept = new Set(before.rows.map((row) => row.seq));
  return {
    nextSeq: snapshot.nextSeq,
    // A memory that begins has a life of its own.
    head: before.snapshot.version === null ? snapshot.head?.replace(/"life":"[^"]*"/, "") : snapshot.head,
    rows: rows.map(({ id: messageId, createdAt, meta, ...row }) => ({
      ...row,
      meta: meta?.replace(/"by":"[^"]*"/, ""),
      ...(messageId.length > 1 && !known.has(messageId) ? {} : { id: messageId }),
      ...(kept.has(row.seq) ? { createdAt } : {}),
    })),
  };
}

/** An answer without the ids that were made for it. */
export function plain(answer: unknown, before: Stored): unknown {
  const known = new Set(before.rows.map((row) => row.id));
  const isMade = (value: unknown): boolean =>
    typeof value === "string" && value.length === 36 && !known.has(value);
  return JSON.parse(
    JSON.stringify({ answer }, (name, value: unknown) =>
      isMade(value) || name === "createdAt" ? undefined : value,
    ),
  );
}
