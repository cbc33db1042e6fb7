import type { CountedClient, FaultOptions } from "./harness.ts";

/** What the calls of a client that fails go through. */
export interface Failing {
  /**
   * Call it before each write: it throws where that does not take place. What it returns is to be called when the answer is
   * there, and throws where the answer is lost.
   */
  write(): () => void;
  /** Call it before each read: it throws where the process has died. */
  read(): void;
}

/**
 * Makes the calls of a client fail as the options of a harness's `fault` say. Your client of `fault` passes each call on
 * between the two.
 *
 * @example
 * ```ts
 * import { type FaultOptions, failing } from "@turnkeep/conformance";
 *
 * function failingQuery(query: (text: string) => Promise<string>, options: FaultOptions) {
 *   const fault = failing(options);
 *   return async (text: string): Promise<string> => {
 *     const answered = fault.write();
 *     const rows = await query(text);
 *     answered();
 *     return rows;
 *   };
 * }
 * ```
 */
export function failing({ step, after, passes, saying = "The process ended here" }: FaultOptions): Failing {
  let writes = 0;
  let isDead = false;
  const fail = (): never => {
    isDead = !passes;
    throw new Error(saying);
  };
  return {
    write() {
      if (isDead) fail();
      const failsNow = ++writes === step;
      if (failsNow && !after) fail();
      // Nothing that is sent meanwhile takes place.
      if (failsNow) isDead = !passes;
      return () => {
        if (failsNow) fail();
      };
    },
    read() {
      if (isDead) fail();
    },
  };
}

/** What the calls of a client that is counted go through. */
export interface Counting extends Pick<CountedClient, "count"> {
  /** Makes a call, of which `content` is sent. */
  call<T>(content: unknown, make: () => Promise<T>): Promise<T>;
}

/**
 * Counts for a harness's `counted` what a client sends: a call that begins while none is under way is a step, and `bytes`
 * is the length of all that was sent, as JSON text.
 *
 * @example
 * ```ts
 * import { counting } from "@turnkeep/conformance";
 *
 * function countedQuery(query: (text: string) => Promise<string>) {
 *   const { call, count } = counting();
 *   return { count, query: (text: string) => call(text, () => query(text)) };
 * }
 * ```
 */
export function counting(): Counting {
  let [steps, bytes, underWay] = [0, 0, 0];
  return {
    count: () => ({ steps, bytes }),
    async call(content, make) {
      if (underWay === 0) steps++;
      bytes += JSON.stringify(content)?.length ?? 0;
      underWay++;
      try {
        return await make();
      } finally {
        underWay--;
      }
    },
  };
}
