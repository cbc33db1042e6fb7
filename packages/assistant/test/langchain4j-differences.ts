/** Where a recorded case is answered differently on purpose, and why. */
export interface Difference {
  /** The first place that differs, as the run names it. */
  readonly at: string;
  readonly why: string;
}

export const differencesOnPurpose: ReadonlyMap<string, Difference> = new Map(
  Object.entries({
    "first-request-exceeds-window-by-one": {
      at: "call 1 (chat), requests",
      why: "a request holds the question, and no more than the window allows",
    },
    "window-two-loses-the-question": {
      at: "call 0 (chat): WINDOW_OVERFLOW",
      why: "a request holds the question beside what the tools have done; if they do not fit, it fails",
    },
    "window-smaller-than-parallel-step-sends-an-orphan": {
      at: "call 0 (chat): WINDOW_OVERFLOW",
      why: "a request holds the question beside what the tools have done; if they do not fit, it fails",
    },
    "duplicate-identical-calls-share-last-result": {
      at: "call 0 (chat), requests",
      why: "each call is answered by its own outcome",
    },
    "tool-error-handler-rethrows-leaves-dangling-call": {
      at: "call 0 (chat), memory default",
      why: "the result of a tool that ran is stored at once, whatever becomes of the others",
    },
    "round-trip-limit-of-one-rejects-tool-then-answer": {
      at: "call 1 (chat)",
      why: "maxRoundTrips counts rounds of tools; the answer after the last one is not thrown away",
    },
    "evict-memory-does-not-clear-the-store": {
      at: "call 0 (getMemory)",
      why: "an assistant keeps no memories of its own to evict: memories.get(id) gives that of any id",
    },
    "user-text-is-a-template": {
      at: "call 0 (chat)",
      why: "what a user writes is no template",
    },
    "streaming-round-trip-limit-of-one-allows-answer": {
      at: "call 1 (chat), memory default",
      why: "an answer beyond the limit is not stored, streamed or not: its calls would stay unanswered",
    },
    "streaming-never-started-remembers-the-user": {
      at: "call 0 (chat), memory default",
      why: "a stream that is never read has asked nothing",
    },
  }),
);
