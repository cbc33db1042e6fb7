import { abortSignal } from "../abort.ts";
import { isTurnkeepError } from "../errors.ts";
import type { CalibrateOptions } from "../memory-call-options.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { ExplainOptions, Explanation, ViewOptions } from "../memory-view.ts";
import { such, worded, wrongOption } from "../option-checks.ts";
import { type Fields, optional, type Taken, takeOptions } from "../option-fields.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import { type Item, readItem } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import { checkMessageId } from "../stores/checks.ts";
import { whenReady } from "../values.ts";
import { explainView } from "../view/explain.ts";
import { type OpenCalls, openCallsFor } from "../view/repair.ts";
import { buildView, keeping, type View, type ViewRequest } from "../view/view.ts";
import {
  type Correction,
  calibration,
  countShown,
  reportedTokens,
  type ShownView,
  uncorrected,
} from "../window/calibration.ts";
import { type Limits, resolveLimits } from "../window/limits.ts";
import { addAll, withoutRepeated } from "./add.ts";
import type { Attempt, Reading } from "./attempt.ts";
import type { Call } from "./deadline.ts";
import { Draft, type Prepared } from "./draft.ts";
import type { Loaded } from "./loaded.ts";
import { askedFields, providerProfile } from "./options.ts";
import { readPinned, withPinned } from "./pinned.ts";
import { prepareAll } from "./prepare.ts";
import type { Session } from "./session.ts";
import { underStoredIds } from "./shown-calls.ts";
import { tellRepaired, warnOfOrder } from "./tell-view.ts";

/** A view with what it was made of. */
interface Built<M> {
  readonly view: View<M>;
  readonly live: Live<M>;
  readonly limits: Limits;
  /** Whether it holds messages that memory does not. */
  readonly hadExtra: boolean;
}

/** Tells whether memory still begins as it did when a view was returned. */
interface ViewBasis<M> {
  readonly epoch: number;
  readonly nextSeq: number;
  readonly newest: Item<M> | undefined;
  /** Whether the view held messages for that call only, or some that had left memory. */
  readonly hadExtra: boolean;
  readonly toolsKey: string | undefined;
  /** The ids of what this instance has added as the answer to it. */
  readonly answers: string[];
}

/** Whether a message ends a turn. */
function isAnswer<M>({ role, calls }: Pick<Item<M>, "role" | "calls">): boolean {
  return role === "assistant" && calls.every(({ providerExecuted }) => providerExecuted === true);
}

/** Options of a view, checked and copied, so that nobody changes them while the call waits. */
export interface AskedView<M> {
  readonly extra: readonly Prepared<M>[];
  readonly pinned: readonly string[];
  readonly profile: ProviderProfile | undefined;
  readonly model: string | undefined;
  readonly toolsKey: string | undefined;
  readonly openCalls: OpenCalls;
  readonly signal: AbortSignal | undefined;
}

const viewFields = {
  profile: optional(providerProfile),
  ...askedFields,
  extra: optional(such<never>("an array of messages", Array.isArray), []),
  pinned: optional(messageIds, []),
  signal: optional(abortSignal),
} satisfies Fields<ViewOptions<unknown>>;

const explainFields = {
  ...viewFields,
  evicted: optional(worded(checkEvicted), 100),
} satisfies Fields<ExplainOptions<unknown>>;

/** What one memory shows a model, and what the provider has reported of it. */
export class Views<M> {
  readonly #settings: MemorySettings<M>;
  readonly #session: Session<M>;
  /** The view that most calls ask for: without options. */
  readonly #plain: AskedView<M>;
  #shown: ShownView<M> | undefined;
  #correction: Correction = uncorrected;
  /** What the last view was made of. */
  #basis: ViewBasis<M> | undefined;

  constructor(settings: MemorySettings<M>, session: Session<M>) {
    this.#settings = settings;
    this.#session = session;
    this.#plain = this.#asked(takeOptions<ViewOptions<M>, typeof viewFields>("", viewFields, undefined));
    warnOfOrder(settings);
  }

  /**
   * Whether the added messages were made after something else than what precedes them in memory. That is so if the last
   * view had messages for that call only or if, before this instance added the answer, memory changed or the user said
   * more. Unknown if the view asked for no answer or has one already: the application has shown another list.
   */
  isBehind({ epoch, live }: Loaded<M>, added: readonly Prepared<M>[]): boolean {
    const basis = this.#basis;
    if (basis === undefined) return false;
    const { nextSeq, newest, hadExtra, answers } = basis;
    if (hadExtra) return true;
    const isOther = (answer: string): boolean => !added.some(({ id }) => id === answer);
    if ((newest !== undefined && isAnswer(newest)) || answers.some(isOther)) return false;
    if (epoch !== basis.epoch) return true;
    if (newest?.role === "user" && live.byId.get(newest.id)?.payload !== newest.payload) return true;
    const since = live.items.slice(live.items.findLastIndex((item) => item.seq < nextSeq) + 1);
    // A result for a call in the view replaces what was shown in its place.
    const isShown = (item: Item<M>): boolean => (live.stepOf(item).items[0]?.seq ?? 0) < nextSeq;
    const isHeard = ({ role }: Item<M>): boolean => role === "user" || role === "system";
    return since.some((item) => isHeard(item) || (item.role === "tool" && isShown(item)));
  }

  /** Notes what this instance added: the first answer belongs to the last view, unless a question came with it. */
  added(messages: readonly Prepared<M>[]): void {
    const question = messages.findIndex(({ facts }) => facts.role === "user");
    const answer = messages.findIndex(({ facts }) => isAnswer(facts));
    if (answer >= 0 && (question < 0 || answer < question))
      this.#basis?.answers.push((messages[answer] as Prepared<M>).id);
  }

  /** The messages with the name of the tools that the model was offered with the last view, where they hold reasoning. */
  underTools(messages: readonly Prepared<M>[]): readonly Prepared<M>[] {
    const toolsKey = this.#basis?.toolsKey;
    if (toolsKey === undefined) return messages;
    const { format } = this.#settings.reader;
    return messages.map((message) =>
      message.toolsKey === undefined && format.hasReasoning(message.facts.message)
        ? { ...message, toolsKey }
        : message,
    );
  }

  limits(
    call: Call,
    profile: ProviderProfile | undefined = this.#settings.profile,
  ): Limits | Promise<Limits> {
    const { window, memoryId } = this.#settings;
    const limits = resolveLimits(window, memoryId, this.#correction, profile);
    if (limits instanceof Promise) call.mayWait();
    return limits;
  }

  /** Errors: `INVALID_OPTION`; `INVALID_MESSAGE` for one of the extra messages. */
  ask(options: ViewOptions<M> | undefined): AskedView<M> {
    if (options === undefined) return this.#plain;
    return this.#asked(takeOptions("messages' argument", viewFields, options));
  }

  /** The messages of a memory as it was read, or as a draft would leave it. */
  show(reading: Reading<M>, asked: AskedView<M>): M[] | Promise<M[]> {
    return whenReady(this.#build(reading, asked), (built) => this.#show(reading, built, asked));
  }

  #show(
    { loaded, call, draft }: Reading<M>,
    { view, live, ...built }: Built<M>,
    { toolsKey }: AskedView<M>,
  ): M[] {
    // A call that has ended shows nothing.
    call.throwIfEnded();
    const { epoch, nextSeq } = loaded;
    const newest = loaded.live.items.at(-1);
    const hadExtra = built.hadExtra || draft !== undefined;
    this.#basis = { epoch, nextSeq, newest, hadExtra, toolsKey, answers: [] };
    const { messages } = view;
    tellRepaired(this.#settings, view);
    // Copies, because the caller may change the array, and the next change may change the items.
    if (this.#settings.reader.counter !== undefined) {
      this.#shown = { messages: [...messages], items: [...live.items] };
    }
    return messages;
  }

  /** What became of each message. Errors: `INVALID_OPTION`. */
  async explain(options: ExplainOptions<M> | undefined): Promise<Explanation<M>> {
    const { evicted, ...view } = takeOptions("explain's argument", explainFields, options);
    const asked = this.#asked(view);
    return this.#session.run(asked.signal, async (call) => {
      const settings = this.#settings;
      const loaded = await this.#session.load(call);
      const reading = { loaded, settings, call };
      const built = await this.#explained(reading, asked);
      // One that has left memory may be back for this view.
      const left = (await readEvicted(evicted, reading)).filter(({ id }) => !built.live.byId.has(id));
      return explainView(built.view, built.live, left, settings, built.limits, loaded.nextSeq);
    });
  }

  /** The view, or what it would be if what does not fit were shown all the same. */
  async #explained(reading: Reading<M>, asked: AskedView<M>): Promise<Built<M>> {
    try {
      return await this.#build(reading, asked);
    } catch (error) {
      if (!isTurnkeepError(error, "WINDOW_OVERFLOW")) throw error;
      return this.#build({ ...reading, settings: keeping(reading.settings) }, asked, true);
    }
  }

  /** The live messages that the window hides. */
  async hidden({ loaded: { live, epoch }, limits, call }: Attempt<M>): Promise<readonly Item<M>[]> {
    const settings = keeping(this.#settings);
    const { profile } = settings;
    const openCalls = openCallsFor(profile);
    const view = await buildView({ live, epoch, settings, limits, profile, openCalls, call, ...anyModel });
    return view.hidden;
  }

  /** Takes over what the provider counted for the last view. Errors: `INVALID_OPTION`. */
  async calibrate(options: CalibrateOptions): Promise<void> {
    const reported = reportedTokens(options);
    return this.#session.run(undefined, async () => {
      const counted = countShown(this.#shown, this.#settings.reader);
      const { correction, plausible } = calibration(counted, reported);
      this.#correction = correction;
      this.#session.emit({ type: "calibrated", counted, reported });
      if (plausible) return;
      const message =
        `${reported} input tokens were reported for a view that the counter takes at ${counted}. ` +
        "inputTokens must hold cached tokens too; what is sent beside the messages goes into otherTokens.";
      this.#session.emit({ type: "warning", code: "calibration", message });
    });
  }

  #asked({
    extra,
    pinned,
    profile = this.#settings.profile,
    model,
    toolsKey,
    openCalls = openCallsFor(profile),
    signal,
  }: Taken<ViewOptions<M>, typeof viewFields>): AskedView<M> {
    const prepared = prepareAll(extra, this.#settings.reader);
    return { extra: prepared, pinned: [...pinned], profile, model, toolsKey, openCalls, signal };
  }

  #build(reading: Reading<M>, asked: AskedView<M>, explains = false): Built<M> | Promise<Built<M>> {
    const { loaded, settings, call } = reading;
    const { extra, pinned, profile, model, toolsKey, openCalls } = asked;
    return whenReady(this.limits(call, profile), (limits) => {
      const { live, epoch } = loaded;
      const request = { live, epoch, settings, limits, profile, model, toolsKey, openCalls, call, explains };
      if (extra.length + pinned.length > 0) return buildWith(extra, pinned, reading, request);
      return whenReady(buildView(request), (view) => ({ view, live, limits, hadExtra: false }));
    });
  }
}

/** For what is asked of no model. */
const anyModel = { model: undefined, toolsKey: undefined };

/** A view with messages that memory does not hold, or must not hide. */
async function buildWith<M>(
  extra: readonly Prepared<M>[],
  pinned: readonly string[],
  reading: Reading<M>,
  request: ViewRequest<M>,
): Promise<Built<M>> {
  const { loaded } = reading;
  const { settings, limits } = request;
  let { live, epoch } = loaded;
  if (extra.length > 0) {
    const draft = new Draft({ ...loaded, live: live.copy() }, settings);
    const stored = underStoredIds(extra, live, settings);
    const fresh = await withoutRepeated(stored, reading);
    addAll({ ...reading, draft, limits }, fresh, { forView: true });
    ({ live, epoch } = draft);
  }
  const hadExtra = extra.length > 0;
  if (pinned.every((id) => live.byId.has(id))) {
    const view = await buildView({ ...request, live, epoch });
    if (!view.hidden.some(({ id }) => pinned.includes(id))) return { view, live, limits, hadExtra };
  }
  const left = await readPinned(pinned, { ...reading, loaded: { ...loaded, live } });
  live = withPinned(live, left, pinned);
  const view = await buildView({ ...request, live, epoch });
  return { view, live, limits, hadExtra: hadExtra || left.length > 0 };
}

function messageIds(name: string, value: unknown): void {
  if (!Array.isArray(value)) throw wrongOption(name, value, "an array of message ids");
  for (const id of value) checkMessageId(id);
}

function checkEvicted(evicted: number): void {
  if (Number.isSafeInteger(evicted) && evicted >= 0 && evicted <= 1000) return;
  throw wrongOption("explain's evicted", evicted, "an integer from 0 to 1000");
}

/** The newest messages that have left memory, oldest first; none where the store keeps no history. */
async function readEvicted<M>(limit: number, { loaded, settings, call }: Reading<M>): Promise<Item<M>[]> {
  const { store, memoryId, reader } = settings;
  if (limit === 0 || loaded.version === null || !store.capabilities.history) return [];
  const query = { order: "descending" as const, limit, states: ["evicted" as const] };
  const page = await store.getHistory(memoryId, query, { signal: call.signal });
  return page.messages.map((stored) => readItem(stored, reader)).reverse();
}
