/** Compiled by the type check, never run: processors over every type of message, without a cast anywhere. */
import type { ModelMessage as Major6 } from "ai6";
import type { ModelMessage as Major7 } from "ai7";
import {
  createChatMemory,
  type MessageFormat,
  type ModelMessage,
  modelMessageFormat,
  type TokenCounter,
  user,
} from "../../src/index.ts";
import {
  applyProcessors,
  joinNeighbours,
  orderToolResults,
  type Processor,
  redact,
  stripMedia,
  stripReasoning,
  tokenLimiter,
  toolCallFilter,
  truncateToolResults,
} from "../../src/processors.ts";

declare const counter: TokenCounter;
declare const major6: Major6[];
declare const major7: Major7[];
interface Line {
  readonly line: string;
}
declare const lines: Line[];
declare const lineFormat: MessageFormat<Line>;

const all = [toolCallFilter(), redact({ patterns: [/a/] }), tokenLimiter({ limit: 10, counter })];
const ofMajor7: Processor<Major7> = {
  name: "own",
  process: (messages) => messages.filter(({ role }) => role !== "tool"),
};

export async function overLists(): Promise<void> {
  const sixes: Major6[] = await applyProcessors(major6, all);
  const sevens: Major7[] = await applyProcessors(major7, [...all, ofMajor7], { format: modelMessageFormat });
  const own: ModelMessage[] = await applyProcessors<ModelMessage>([user("a")], all, {
    signal: AbortSignal.timeout(10),
  });
  const ofLines: Line[] = await applyProcessors(lines, all, { format: lineFormat });
  console.log(sixes, sevens, own, ofLines);
}

export const memories: readonly unknown[] = [
  createChatMemory({ processors: all }),
  createChatMemory<Major6>({ processors: all }),
  createChatMemory<Major7>({ processors: [...all, ofMajor7] }),
  createChatMemory({ processors: all, format: lineFormat }),
];

export async function mistakes(): Promise<void> {
  // @ts-expect-error a format of one's own must be given
  await applyProcessors(lines, all);
  // @ts-expect-error that processor is for other messages
  await applyProcessors(lines, [ofMajor7], { format: lineFormat });
  // @ts-expect-error one or the other
  redact({ patterns: ["a"], change: (text: string) => text });
  // @ts-expect-error a limiter counts
  tokenLimiter({ limit: 10 });
  // @ts-expect-error a misspelt option
  tokenLimiter({ limit: 10, counter, reserved: 1 });
  // @ts-expect-error not a unit of a limiter
  tokenLimiter({ limit: 10, counter, unit: "message" });
  // @ts-expect-error a misspelt option
  toolCallFilter({ exlude: ["search"] });
  // @ts-expect-error a misspelt option
  stripReasoning({ keepLast: 2 });
  // @ts-expect-error a misspelt option
  stripMedia({ placeHolder: "…" });
  // @ts-expect-error how long may they be?
  truncateToolResults({ counter });
  // @ts-expect-error a misspelt option
  truncateToolResults({ maxTokens: 50, counter, heads: 5 });
  // @ts-expect-error nothing to redact
  redact({});
  // @ts-expect-error a misspelt option
  redact({ patterns: ["a"], replace: "b" });
  // @ts-expect-error a misspelt option
  await applyProcessors(major6, all, { signals: undefined });
  // @ts-expect-error a misspelt option
  joinNeighbours([user("a")], { format: modelMessageFormat, mayJion: () => true });
  // @ts-expect-error of which format?
  orderToolResults([user("a")], {});
}
