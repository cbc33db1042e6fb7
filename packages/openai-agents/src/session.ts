import type {
  AgentInputItem,
  CallModelInputFilter,
  RunContextAwareSession,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from "@openai/agents-core";
import {
  type ChatMemories,
  type ChatMemory,
  equalContent,
  isTurnkeepError,
  type MemoryTransaction,
  type TransactionOptions,
} from "@turnkeep/core";
import { despiteConflicts, memoryOf, quoted, TurnkeepError } from "@turnkeep/core/store-kit";
import { agentsFormat } from "./format.ts";
import { isQuestion, marked, runnersForm } from "./session/items.ts";
import { markOf } from "./session/operations.ts";
import { recordOf, storedOf } from "./session/record.ts";
import { rewrite } from "./session/rewrite.ts";
import type { AnyContext, Handed, Run } from "./session/run.ts";
import { Runs } from "./session/runs.ts";

/** Which conversation a {@link TurnkeepSession} is of. */
export interface TurnkeepSessionOptions {
  /** Where the conversations are kept: `createChatMemories({ format: agentsFormat, … })`. */
  readonly memories: ChatMemories<AgentInputItem>;
  /** The id of the conversation. */
  readonly sessionId: string;
  /**
   * On whose behalf, such as the user of a request: a conversation of another owner is `OWNER_MISMATCH`. `undefined` is
   * refused, so that a forgotten user does not have everybody's conversations.
   */
  readonly owner?: string;
}

type Transaction = MemoryTransaction<AgentInputItem>;
type Input = ReadonlySet<AgentInputItem>;

/**
 * A session of the OpenAI Agents SDK over a Turnkeep memory. It is a record: `getItems` returns everything that was said and
 * not taken back, evicted items too. What a model is shown is up to `session.modelInput`.
 *
 * Every call may fail with `OWNER_MISMATCH`, `STORE_UNAVAILABLE` and what else a memory's calls may fail with; one that reads
 * with `CORRUPT_RECORD`, which names the item. The store must keep a history, else `UNSUPPORTED`.
 *
 * @example
 * ```ts
 * import { Agent, run } from "@openai/agents";
 * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
 * import { agentsFormat, TurnkeepSession } from "@turnkeep/openai-agents";
 *
 * const window = { maxMessages: 40, unit: "turn" } as const;
 * const memories = createChatMemories({ store: inMemoryStore(), format: agentsFormat, window });
 * const session = new TurnkeepSession({ memories, sessionId: "chat-1", owner: "ann" });
 * const agent = new Agent({ name: "Assistant", instructions: "You are a helpful assistant." });
 * await run(agent, "Hello", { session, callModelInputFilter: session.modelInput });
 * ```
 */
export class TurnkeepSession
  implements RunContextAwareSession, SessionHistoryRewriteAwareSession, SessionHistoryTransactionAwareSession
{
  /** Tells the runner to pass each call the context of its run. */
  readonly acceptsRunContext = true;

  /** The memory behind the session: its window, versions and summaries. */
  readonly memory: ChatMemory<AgentInputItem>;

  /**
   * For `run(agent, input, { session, callModelInputFilter: session.modelInput })`. Before each model call it stores what the
   * run has said since the call before, and answers what the memory shows: its window, repaired, in the shape that its
   * `profile` accepts, with the question that is being answered. So a run that was killed goes on with the next, in any
   * process. What the runner hands over at the end is not stored twice. The `instructions` stay the agent's.
   *
   * Give it to the run whose session this is, and not to a `Runner` whose agents run others.
   *
   * Errors, which end the run: `NOT_FOUND` if the conversation was deleted meanwhile or the question taken back,
   * `WINDOW_OVERFLOW`, and those of a memory's calls.
   */
  readonly modelInput: CallModelInputFilter;

  readonly #runs: Runs = new Runs();

  /** Reads nothing yet. Errors: `INVALID_OPTION` for a session id or an owner that is no id. */
  constructor({ memories, sessionId, ...asked }: TurnkeepSessionOptions) {
    this.memory = memoryOf(memories, { id: sessionId, ...asked }, agentsFormat, "agentsFormat");
    const filter: CallModelInputFilter = async ({ modelData, agent, context }) => {
      const run = await this.#runs.ofInput(modelData.input, context, this.memory);
      const made = await this.#keep(run, modelData.input, agent.name);
      return { ...modelData, input: await this.#view(run, new Set(modelData.input), made) };
    };
    // The runner's own objects tell what is stored already. They are not changed.
    filter.preserveInputIdentity = true;
    this.modelInput = filter;
  }

  /** The id that the session was made with. */
  async getSessionId(): Promise<string> {
    return this.memory.id;
  }

  /** All items, or the newest `limit`, oldest first, as copies that are yours to change. */
  async getItems(limit?: number, runContext?: AnyContext): Promise<AgentInputItem[]> {
    const record = await recordOf(this.memory, limit);
    const items = record.map(({ message }) => structuredClone(message));
    if (limit === undefined) this.#runs.read(record, items, runContext);
    return items;
  }

  /**
   * Adds items in one step, all or none, beside what others add at the same time. Of what a run hands over, only what is not
   * stored yet. Errors: `INVALID_MESSAGE`, `MESSAGE_TOO_LARGE`; `NOT_FOUND` if the run's conversation was deleted meanwhile.
   */
  async addItems(items: AgentInputItem[], runContext?: AnyContext): Promise<void> {
    if (items.length === 0) return;
    const { run, added, changed, settle } = this.#handed(items, runContext);
    const ids = await (changed.size === 0
      ? this.memory.transaction((transaction) => transaction.add(...added), boundTo(run))
      : this.#change(async (transaction) => {
          await this.#rewrite(transaction, changed, run);
          return transaction.add(...added);
        }, run));
    settle(ids);
  }

  /** Takes back the newest item, and returns it. It stays in the history of the store as superseded. */
  async popItem(_runContext?: AnyContext): Promise<AgentInputItem | undefined> {
    let popped: AgentInputItem | undefined;
    await this.#change(async (transaction) => {
      const [newest] = await recordOf(this.memory, 1);
      popped = newest?.message;
      if (newest !== undefined) transaction.rewind(newest.id);
    });
    return structuredClone(popped);
  }

  /** Deletes the conversation with all that was ever said in it. A run that is under way ends with `NOT_FOUND`. */
  async clearSession(_runContext?: AnyContext): Promise<void> {
    await this.memory.clear();
    this.#runs.clear();
  }

  /**
   * Puts a compaction and what stands behind it in place of all that the run has read and said, in one step. What others have
   * said since the run began stays behind it.
   */
  async replaceHistoryWithCompaction(items: AgentInputItem[], runContext?: AnyContext): Promise<void> {
    const run = this.#runs.ofContext(runContext);
    const ids = await this.#change(async (transaction) => {
      const record = await storedOf(this.memory);
      run?.follow(record);
      const since = record.filter(({ id, seq }) => seq > (run?.readThrough ?? seq) && !run?.hasStored(id));
      const [first] = record;
      if (first !== undefined) transaction.rewind(first.id);
      return transaction.add(...items, ...since.map(({ message }) => message));
    }, run);
    run?.forget();
    run?.give(items, ids);
  }

  /** Puts another call in the place of those with an id, as after an approval with other arguments. */
  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    if (mutations.length === 0) return;
    await this.#change(async (transaction) => {
      const record = await recordOf(this.memory);
      const now = new Map<string, AgentInputItem | undefined>();
      for (const { callId, replacement } of mutations) {
        const [first, ...others] = record.filter(({ id, message }) => {
          const item = now.has(id) ? now.get(id) : message;
          return item?.type === "function_call" && item.callId === callId;
        });
        if (first !== undefined) now.set(first.id, replacement);
        for (const { id } of others) now.set(id, undefined);
      }
      rewrite(transaction, record, now);
    });
  }

  /**
   * Applies an operation once, in whatever process, however often it is asked for: what it changes and its id are stored in
   * one step. Errors: `ID_CONFLICT` if another transaction was applied under the id, `VERSION_CONFLICT` if the history does
   * not end with the suffix that is to be replaced. Then nothing has changed.
   */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs, runContext?: AnyContext): Promise<void> {
    const { operationId, transaction: asked } = args;
    const { id, mark } = await markOf(args);
    const items = asked.type === "append_items" ? asked.items : asked.replacement;
    const { run, added, changed, settle } = this.#handed(items, runContext);
    const ids = await this.#change(async (transaction) => {
      const [applied] = (await this.memory.history({ ids: [id] })).messages;
      if (applied !== undefined) {
        checkApplied(applied.message, mark.message, operationId);
        return [];
      }
      if (asked.type === "replace_suffix" && !(await this.#takeBack(transaction, asked.expectedSuffix))) {
        return undefined;
      }
      await this.#rewrite(transaction, changed, run);
      const ids = transaction.add(...added);
      transaction.add(mark);
      transaction.rewind(id);
      return ids;
    }, run);
    if (ids === undefined) throw suffixMismatch();
    settle(ids);
  }

  /** Answers whether the history ended with it. */
  async #takeBack(transaction: Transaction, suffix: readonly AgentInputItem[]): Promise<boolean> {
    const newest = await recordOf(this.memory, suffix.length);
    const items = newest.map(({ message }) => message);
    if (!equalContent(items, suffix)) return false;
    const [first] = newest;
    if (first !== undefined) transaction.rewind(first.id);
    return true;
  }

  async #rewrite(transaction: Transaction, changed: Handed["changed"], run?: Run): Promise<void> {
    if (changed.size === 0) return;
    const record = await recordOf(this.memory);
    run?.follow(record);
    rewrite(transaction, record, new Map([...changed].map(([id, item]) => [run?.now(id) ?? id, item])));
  }

  /** Stores what the run has said since its last model call, and answers what a handoff has made for the model alone. */
  async #keep(run: Run, input: readonly AgentInputItem[], agent: string): Promise<AgentInputItem[]> {
    const { said, made } = run.fresh(input, agent);
    if (said.length > 0) {
      const ids = await this.memory.transaction((transaction) => transaction.add(...said), boundTo(run));
      run.keep(said, ids);
    }
    if (input.length > 0) run.anchor ??= await this.memory.anchor();
    const question = input.findLast((item) => isQuestion(item) && !made.includes(item));
    if (question !== undefined || made.length === 0) run.questionId = question && run.idOf(question);
    return made;
  }

  /** What the model is shown. Where another run's compaction has moved the question, that is found first. */
  async #view(run: Run, input: Input, made: readonly AgentInputItem[]): Promise<AgentInputItem[]> {
    try {
      return await this.#shown(run, input, made);
    } catch (error) {
      const { questionId } = run;
      if (questionId === undefined || !isTurnkeepError(error, "NOT_FOUND")) throw error;
      run.follow(await recordOf(this.memory));
      run.questionId = run.now(questionId);
      if (run.questionId === questionId) throw error;
      return this.#view(run, input, made);
    }
  }

  /** Where the input holds an item itself, that. */
  #shown(run: Run, input: Input, extra: readonly AgentInputItem[]): Promise<AgentInputItem[]> {
    const pinned = run.questionId === undefined ? [] : [run.questionId];
    return this.memory.transaction(async (transaction) => {
      const shown = await transaction.messages({ pinned, extra, openCalls: "approved" });
      const ids = new Map((await transaction.entries()).map(({ id, message }) => [message, id]));
      return shown.map((message) => {
        const id = ids.get(message);
        // What a filter has made goes back as it is: the runner knows what of it is to be stored.
        if (id === undefined) return extra.find((item) => equalContent(item, message)) ?? marked(message);
        const held = run.held.get(id);
        if (held === undefined || !input.has(held)) return marked(message);
        return equalContent(runnersForm(held), runnersForm(message)) ? held : marked(message);
      });
    });
  }

  /** What of the items is not stored yet, for the run that hands them over. */
  #handed(
    items: readonly AgentInputItem[],
    context: AnyContext | undefined,
  ): Handed & { readonly run: Run | undefined } {
    const run = this.#runs.handing(items, context);
    if (run === undefined) return { run, added: items, changed: new Map(), settle: () => undefined };
    return { run, ...run.handed(items) };
  }

  /** Makes a change that holds for the state alone that it has read: again where somebody else wrote first. */
  #change<T>(make: (transaction: Transaction) => Promise<T>, run?: Run): Promise<T> {
    const options = { ...boundTo(run), onConflict: "throw" } as const;
    return despiteConflicts(() => this.memory.transaction(make, options));
  }
}

/** What a run writes belongs to the conversation that it began in. */
function boundTo(run: Run | undefined): TransactionOptions {
  return run?.anchor === undefined ? {} : { mustExist: run.anchor };
}

function suffixMismatch(): TurnkeepError {
  return new TurnkeepError(
    "VERSION_CONFLICT",
    "The history does not end with the suffix that is to be replaced: somebody has changed it since. Read it again.",
  );
}

function checkApplied(applied: AgentInputItem, asked: AgentInputItem, operationId: string): void {
  if (equalContent(applied, asked)) return;
  throw new TurnkeepError(
    "ID_CONFLICT",
    `The operation ${quoted(operationId)} was applied with another transaction. Give each transaction an id of its own.`,
  );
}
