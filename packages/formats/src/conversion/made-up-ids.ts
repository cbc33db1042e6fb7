import { type AskedCall, CallsById } from "@turnkeep/core/processors";

/**
 * The ids that stand for those of calls without one, by the names that pair them with their results. Results answer the
 * newest answer, which may stand in several messages of the assistant one behind the other.
 */
export class MadeUpIds {
  #ids: CallsById<string> = new CallsById();
  /** Those of the answer that may still go on. */
  #asked: AskedCall<string>[] = [];
  #isAnswer = false;

  /** To be called for each message before it is read. */
  enter({ isAnswer }: { readonly isAnswer: boolean }): void {
    if (isAnswer && !this.#isAnswer) this.#ids = new CallsById();
    if (!isAnswer) this.#ids.askTogether(this.#asked.splice(0));
    this.#isAnswer = isAnswer;
  }

  ask(name: string, id: string): void {
    this.#asked.push([name, id]);
  }

  take(name: string): string | undefined {
    return this.#ids.take(name);
  }
}
