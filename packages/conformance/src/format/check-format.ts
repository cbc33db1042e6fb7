import type { MessageFormat } from "@turnkeep/core";
import { ConformanceError, tell } from "../support/expect.ts";
import { formatCases } from "./cases.ts";

/**
 * Tries a `MessageFormat` with messages of yours: that a message comes back from its text as it was, that texts change and
 * nothing else, that ids are renamed everywhere, that a copy without some parts has none of them and is a message, that what
 * it cannot read is an error, and that no method changes its argument. Give one message of every kind: a text, a call, its
 * result, a failed result, an image, reasoning, an approval, a part that your format does not know.
 *
 * Returns if every promise is kept for every sample; otherwise throws a `ConformanceError` that lists those that are not, with
 * the index of the sample that shows it first. A method that the format leaves out is not tried.
 *
 * @param samples Plain data, at least one.
 *
 * @example
 * ```ts
 * import { checkFormat } from "@turnkeep/conformance";
 * import { modelMessageFormat, toolCall, toolResult, user } from "@turnkeep/core";
 *
 * checkFormat(modelMessageFormat, [
 *   user("Weather in Oslo?"),
 *   toolCall("call-1", "weather", { city: "Oslo" }),
 *   toolResult("call-1", "weather", "4 °C"),
 * ]);
 * ```
 */
export function checkFormat<M>(format: MessageFormat<M>, samples: readonly M[]): void {
  if (!Array.isArray(samples) || samples.length === 0) {
    throw new TypeError("checkFormat needs samples: an array of at least one message of the format");
  }
  const broken = formatCases.flatMap(({ promise, run }) => {
    for (const [index, sample] of samples.entries()) {
      try {
        run(format, frozen(structuredClone(sample)));
      } catch (error) {
        return [`- ${promise}; sample ${index}: ${tell(error)}`];
      }
    }
    return [];
  });
  if (broken.length === 0) return;
  throw new ConformanceError(
    `The format ${format.name} breaks ${broken.length} of its promises:\n${broken.join("\n")}`,
  );
}

/** A method that changes its argument then throws. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
