import { joinedWhere } from "../format/join-neighbours.ts";
import type { MessageFormat, ToolCallRef } from "../message-format.ts";
import type { Item } from "../steps/item.ts";
import { pushAll } from "../steps/push-all.ts";

/**
 * The messages that answer the calls of a group, which are shown directly behind them: results and approvals in the
 * order in which they came, then what the user says beside a result, since providers require all results before it.
 */
export class BehindCalls<M> {
  readonly #format: MessageFormat<M>;
  readonly #interruptedIds: ReadonlySet<string>;
  readonly #answers: M[] = [];
  readonly #saidBeside: M[] = [];
  /** The ids of results beside which the user says something. */
  readonly #besideIds: Set<string> = new Set();
  /** Approvals that came one by one directly before, to be shown as one message. */
  #approvals: M[] = [];
  #firstApproval: number | undefined;
  /** Behind the last result of an id that an interrupted call shares: results of one id keep their order. */
  #behindShared = 0;

  constructor(interrupted: readonly ToolCallRef[], format: MessageFormat<M>) {
    this.#format = format;
    this.#interruptedIds = new Set(interrupted.map(({ id }) => id));
  }

  /** Adds what a message shows, with results of these ids. */
  add(item: Item<M>, message: M, resultIds: readonly string[]): void {
    if (item.role === "user" || resultIds.some((id) => this.#besideIds.has(id))) {
      this.#saidBeside.push(message);
      for (const id of resultIds) this.#besideIds.add(id);
      return;
    }
    if (isApproval(item)) {
      this.#firstApproval ??= this.#answers.length;
      this.#approvals.push(message);
      return;
    }
    this.#joinApprovals();
    this.#answers.push(message);
    if (resultIds.some((id) => this.#interruptedIds.has(id))) this.#behindShared = this.#answers.length;
  }

  /** All of them, with the results of the interrupted calls. */
  messages(missing: readonly M[]): M[] {
    this.#joinApprovals();
    const all = [...this.#answers, ...this.#saidBeside];
    if (missing.length === 0) return all;
    const isBeside = [...this.#interruptedIds].some((id) => this.#besideIds.has(id));
    // Whoever runs approved calls looks for the approvals in the last message, and puts the results after them.
    const behind = Math.max(this.#firstApproval ?? this.#answers.length, this.#behindShared);
    const index = isBeside ? all.length : behind;
    return [...all.slice(0, index), ...missing, ...all.slice(index)];
  }

  #joinApprovals(): void {
    pushAll(this.#answers, joinedWhere(this.#approvals, this.#format));
    this.#approvals = [];
  }
}

/** Whether a message answers approval requests and no calls. */
export function isApproval<M>({ calls, results, approvals }: Item<M>): boolean {
  const isResponse = approvals.some(({ kind }) => kind === "response");
  return isResponse && calls.length + results.length === 0;
}
