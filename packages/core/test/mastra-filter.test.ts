import { describe, expect, test } from "vitest";
import { applyProcessors, toolCallFilter } from "../src/processors.ts";
import { type FilterRun, filterFaults, type Reason } from "./mastra-differences.ts";
import {
  type Left,
  leftOf,
  loadCases,
  type Marked,
  type RecordedMessage,
  toModelMessage,
} from "./mastra-messages.ts";
import { expectRow, onceEach } from "./mastra-tally.ts";
import { naiveFilter } from "./processors-naive.ts";

interface Run extends FilterRun {
  readonly old?: readonly number[];
  readonly new: Left | null;
}
interface Case {
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
  readonly runs: readonly Run[];
}

const cases = loadCases<Case>("tool-call-filter");
const whole = (messages: readonly Marked[]): Left => messages.map(({ index }) => [index, null]);

/** What Mastra left, by its version; nothing where that version was not asked. */
const theirs: Readonly<Record<string, (run: Run, messages: readonly Marked[]) => Left | undefined>> = {
  old: (run) => run.old?.map((index) => [index, null]),
  new: (run, messages) => run.new ?? whole(messages),
};

async function ours(messages: readonly Marked[], run: Run): Promise<Left> {
  const filter = toolCallFilter({ exclude: run.exclude, keepLastSteps: run.filterAfterToolSteps });
  return leftOf(messages, await applyProcessors(messages, [filter]));
}

describe.each(Object.entries(theirs))("Mastra's recorded ToolCallFilter, %s", (version, left) => {
  const compare = onceEach(async (recorded: Case): Promise<Set<Reason>[]> => {
    const messages = recorded.messages.map(toModelMessage);
    const all: Set<Reason>[] = [];
    for (const [index, run] of recorded.runs.entries()) {
      const expected = left(run, messages);
      if (expected === undefined) continue;
      const faults = filterFaults(messages, expected, run);
      const answer = await ours(messages, run);
      const where = `run ${index}: ${[...faults].join()}`;
      if (faults.size === 0) expect(answer, where).toEqual(expected);
      else expect(answer, where).not.toEqual(expected);
      const options = { exclude: run.exclude, keepLastSteps: run.filterAfterToolSteps };
      expect(answer, where).toEqual(leftOf(messages, naiveFilter(messages, options)));
      all.push(faults);
    }
    return all;
  });

  test.each(cases.map((recorded) => [recorded.id, recorded] as const))("%s", async (_, recorded) => {
    await compare(recorded);
  });

  test("are as many alike, and as many different on purpose, as the document says", async () =>
    expectRow(`tool-call-filter, ${version}`, cases, compare));
});
