import type { ModelMessage } from "@turnkeep/core";
import fc from "fast-check";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).map((some) => `${some}.`);
const name = fc.constantFrom("find", "weather");
const input = fc.dictionary(
  fc.string({ maxLength: 4 }).filter((key) => key !== "__proto__"),
  fc.jsonValue({ maxDepth: 1 }),
  { maxKeys: 3, noNullPrototype: true },
);
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** What not every format holds. */
interface Held {
  /** Images behind a link. */
  readonly links: boolean;
  /** PDFs. */
  readonly files: boolean;
}

const words = text.map((some) => ({ type: "text" as const, text: some }));
const image = fc.constant({ type: "image" as const, image: png, mediaType: "image/png" });
const linked = fc.constant({ type: "image" as const, image: new URL("https://example.org/a.png") });
const file = fc.constant({ type: "file" as const, data: "JVBERi0xLjQ=", mediaType: "application/pdf" });
const userPart = ({ links, files }: Held) =>
  fc.oneof(words, image, ...(links ? [linked] : []), ...(files ? [file] : []));

const output = fc.oneof(
  text.map((value) => ({ type: "text" as const, value })),
  input.map((value) => ({ type: "json" as const, value: value as never })),
);

/** A turn as a format can hold it: what the user says, calls with their results, an answer. */
const turn = (held: Held) =>
  fc
    .record({
      said: fc.oneof(text, fc.array(userPart(held), { minLength: 1, maxLength: 3 })),
      steps: fc.array(
        fc.record({
          text: fc.option(text, { nil: undefined }),
          calls: fc.array(fc.record({ name, input, output }), { minLength: 1, maxLength: 3 }),
        }),
        { maxLength: 2 },
      ),
      answer: fc.option(text, { nil: undefined }),
    })
    .map(({ said, steps, answer }) => ({ said, steps, answer }));

/** Conversations of what every format holds, and links and files where all of these formats do. */
export const conversationOf = (held: Held): fc.Arbitrary<ModelMessage[]> =>
  fc
    .tuple(fc.option(text, { nil: undefined }), fc.array(turn(held), { minLength: 1, maxLength: 3 }))
    .map(([system, turns]) => {
      let count = 0;
      const messages: ModelMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
      for (const { said, steps, answer } of turns) {
        messages.push({ role: "user", content: said });
        for (const step of steps) {
          const calls = step.calls.map((call) => ({ ...call, id: `call-${++count}` }));
          messages.push({
            role: "assistant",
            content: [
              ...(step.text === undefined ? [] : [{ type: "text" as const, text: step.text }]),
              ...calls.map(({ id, name, input }) => ({
                type: "tool-call" as const,
                toolCallId: id,
                toolName: name,
                input,
              })),
            ],
          });
          messages.push({
            role: "tool",
            content: calls.map(({ id, name, output }) => ({
              type: "tool-result" as const,
              toolCallId: id,
              toolName: name,
              output,
            })),
          });
        }
        if (answer !== undefined) messages.push({ role: "assistant", content: answer });
      }
      return messages;
    });

export const commonConversation: fc.Arbitrary<ModelMessage[]> = conversationOf({ links: true, files: true });
