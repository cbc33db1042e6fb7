const exactWindow = "a request never holds more than the window allows";
const finalAnswer = "maxRoundTrips counts rounds of tools; the answer after the last one is not thrown away";

/** The recorded cases that are answered differently on purpose, each with its reason. */
export const differencesOnPurpose: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "first-request-exceeds-window-by-one": exactWindow,
    "duplicate-identical-calls-share-last-result": "each call is answered by its own outcome",
    "tool-error-handler-rethrows-leaves-dangling-call":
      "the result of a tool that ran is stored at once, whatever becomes of the others",
    "round-trip-limit-of-one-rejects-tool-then-answer": finalAnswer,
    "evict-memory-does-not-clear-the-store":
      "an assistant keeps no memories of its own to evict: memories.get(id) gives that of any id",
    "user-text-is-a-template": "what a user writes is no template",
    "streaming-round-trip-limit-of-one-allows-answer":
      "an answer beyond the limit is not stored, streamed or not: its calls would stay unanswered",
    "streaming-never-started-remembers-the-user": "a stream that is never read has asked nothing",
  }),
);
