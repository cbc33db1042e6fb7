/** Passes values from a producer to a consumer, in order. */
export class EventQueue<T> {
  #values: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  push(value: T): void {
    this.#values.push(value);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Ends once {@link EventQueue.end} was called and everything before it was taken. */
  async *values(): AsyncGenerator<T, void> {
    for (;;) {
      while (this.#values.length > 0) {
        const taken = this.#values;
        this.#values = [];
        yield* taken;
      }
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
