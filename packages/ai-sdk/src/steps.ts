import {
  type Anchor,
  type ChatMemory,
  entry,
  type ModelMessageLike,
  type ProviderProfile,
  type SystemOf,
} from "@turnkeep/core";
import { type Fields, optional, takeOptions } from "@turnkeep/core/store-kit";

/** Options of {@link steps}, for each of the run's model calls: see `ViewOptions` of core. */
export interface StepsOptions {
  /** The model that the run asks. What it says is kept under this name, by which a profile may drop other models' reasoning. */
  readonly model?: string | undefined;
  /** What the provider accepts. Default: the memory's `profile`. */
  readonly profile?: ProviderProfile | undefined;
  /** Ends reads and writes with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
  /** Names the tools of the run, for a provider that binds reasoning to them. */
  readonly toolsKey?: string | undefined;
}

// The memory checks them.
const fields = {
  model: optional(),
  profile: optional(),
  signal: optional(),
  toolsKey: optional(),
} satisfies Fields<StepsOptions>;

/** What the SDK says of a step, as far as it is read here, in both majors. */
export interface StepLike {
  readonly response: { readonly messages: readonly object[] };
}

/** What the SDK hands to `prepareStep`, as far as it is read here, in both majors. */
export interface StepInput {
  readonly messages: readonly object[];
  /** Of major 7 alone: all that the run has said so far. */
  readonly responseMessages?: readonly object[];
  /** Of major 7 alone: what the user said meanwhile. */
  readonly experimental_steeringMessages?: readonly object[];
}

/** What one model call is shown. */
export interface StepView<M> {
  messages: M[];
  /** The prompt, as major 7 calls it. Left out if there is none. */
  instructions?: SystemOf<M>;
  /** The same, as major 6 calls it. */
  system?: SystemOf<M>;
}

/** What {@link steps} answers: spread it into the SDK's call. */
export interface Steps<M> {
  /** The view that the run begins with. */
  messages: M[];
  /** The prompt, for major 7; in major 6 `prepareStep` sets it. Left out if there is none. */
  instructions?: SystemOf<M>;
  /** Stores what the run has said so far, then shows the next model call the memory as it is now. */
  prepareStep(input: StepInput): Promise<StepView<M>>;
  /** Stores a step: its answer, and the results of its tools. */
  onStepEnd(step: StepLike): Promise<void>;
  /** The same, as major 6 calls it. */
  onStepFinish(step: StepLike): Promise<void>;
  /** Waits until all steps are stored. Rejects with the error of one that is not: the SDK tells nobody of it. */
  done(): Promise<void>;
}

/**
 * A memory for one run of your own `streamText`, `generateText` or agent, in major 6 or 7: before each model call its messages are what the memory
 * shows (its window, repaired, in the shape of its profile), and each step is stored before the next begins, so that a
 * process that is killed loses no step that is done. Add the question first; to go on after a crash, add what the user says next.
 *
 * The question stays in view however long the run. If it is taken back or the conversation deleted meanwhile, the run ends
 * with `NOT_FOUND` at its next step, and stores nothing more.
 *
 * Errors: `NOT_FOUND` if nothing was said yet, and those of `messages` and `add`. One run each: what it answers serves a
 * single call of the SDK.
 *
 * @example
 * ```ts
 * import { steps } from "@turnkeep/ai-sdk";
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { isStepCount, type ModelMessage, streamText } from "ai";
 *
 * const memory = createChatMemory<ModelMessage>({ window: { maxMessages: 40, unit: "turn" } });
 * await memory.add(user("What is a fjord?"));
 * const run = await steps(memory);
 * const { textStream } = streamText({ model: "openai/gpt-5", stopWhen: isStepCount(8), ...run });
 * for await (const text of textStream) process.stdout.write(text);
 * await run.done();
 * ```
 */
export async function steps<M extends ModelMessageLike>(
  memory: ChatMemory<M>,
  options: StepsOptions = {},
): Promise<Steps<M>> {
  takeOptions("steps' second argument", fields, options);
  const run = await Run.of(memory, options);
  const { messages, instructions } = await run.view();
  return {
    messages,
    ...(instructions !== undefined && { instructions }),
    prepareStep: async (input) => {
      await run.keepSoFar(input, messages.length);
      return run.view();
    },
    onStepEnd: (step) => run.keepStep(step),
    onStepFinish: (step) => run.keepStep(step),
    done: () => run.kept,
  };
}

/** One run of the SDK over a memory: how much of what it said is stored. */
class Run<M extends ModelMessageLike> {
  /** The writes so far. One that failed is made again with the next step. */
  kept: Promise<void> = Promise.resolve();
  readonly #memory: ChatMemory<M>;
  readonly #options: StepsOptions;
  readonly #anchor: Anchor;
  /** A write whose outcome stayed open is made again under the same ids. */
  readonly #id: string = crypto.randomUUID();
  #stored = 0;
  /** How many messages have an id: those, and what the user has put in meanwhile. */
  #written = 0;
  /** In major 7 a step tells what is its own, in major 6 all that the run has said. */
  #before: number | undefined;

  constructor(memory: ChatMemory<M>, options: StepsOptions, anchor: Anchor) {
    this.#memory = memory;
    this.#options = options;
    this.#anchor = anchor;
  }

  static async of<M extends ModelMessageLike>(memory: ChatMemory<M>, options: StepsOptions): Promise<Run<M>> {
    const { signal } = options;
    const entries = await memory.entries({ signal });
    const question = entries.findLast(({ message }) => memory.format.role(message) === "user");
    return new Run(memory, options, await memory.anchor(question?.id, { signal }));
  }

  async view(): Promise<StepView<M>> {
    const { messageId } = this.#anchor;
    const pinned = messageId === undefined ? [] : [messageId];
    const { system, messages } = await this.#memory.prompt({ ...this.#options, pinned });
    const shown: StepView<M> = { messages: messages as M[] };
    return system === undefined ? shown : { ...shown, instructions: system, system };
  }

  /** What was said before a step: `given` messages of the input were there at the beginning. */
  async keepSoFar(input: StepInput, given: number): Promise<void> {
    const { responseMessages, experimental_steeringMessages: steered = [] } = input;
    const said = responseMessages ?? input.messages.slice(given);
    if (responseMessages !== undefined) this.#before = said.length;
    await this.#keep(said.slice(this.#stored), steered);
  }

  async keepStep({ response }: StepLike): Promise<void> {
    await this.#keep(response.messages.slice(this.#stored - (this.#before ?? 0)));
  }

  #keep(said: readonly object[], steered: readonly object[] = []): Promise<void> {
    const messages = [...said, ...steered] as M[];
    if (messages.length === 0) return this.kept;
    const { model, signal } = this.#options;
    const entries = messages.map((message, index) =>
      entry(message, { id: `${this.#id}-${this.#written + index}`, model }),
    );
    this.kept = this.#memory
      .transaction((transaction) => transaction.add(...entries), { mustExist: this.#anchor, signal })
      .then(() => {
        this.#stored += said.length;
        this.#written += messages.length;
      });
    return this.kept;
  }
}
