import { expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  type MessageFormat,
  type ModelMessage,
  type ModelMessageLike,
  modelMessageFormat,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { joinNeighbours, orderToolResults } from "../src/processors.ts";
import { type Item, itemsOf } from "../src/steps/item.ts";
import { Live } from "../src/steps/live.ts";

/** Work that grows with the square of what is given, counted: times would depend on the machine. */

const reader = { format: modelMessageFormat, counter: undefined, pinned: undefined };

function upTo<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function callsOf(count: number): ModelMessage {
  return assistant(
    upTo(count, (index) => ({
      type: "tool-call" as const,
      toolCallId: `${index}`,
      toolName: "t",
      input: {},
    })),
  );
}

/** The format, and how many results the messages held that one of its methods was given. */
function counting(method: "without" | "joined"): MessageFormat<ModelMessageLike> & { held: number } {
  const format = {
    ...modelMessageFormat,
    held: 0,
    [method]: (message: ModelMessageLike, ...rest: never[]) => {
      format.held += Array.isArray(message.content) ? message.content.length : 1;
      return (modelMessageFormat[method] as (message: ModelMessageLike, ...rest: never[]) => never)(
        message,
        ...rest,
      );
    },
  };
  return format;
}

test.each([
  ["after their calls", [callsOf(300)], upTo(300, (index) => toolResult(`${index}`, "t", "done"))],
  ["too late", [callsOf(300), user("?"), assistant("!")], upTo(300, (i) => toolResult(`${i}`, "t", "done"))],
  [
    "after calls of one id",
    upTo(300, () => toolCall("a", "t", {})),
    upTo(300, () => toolResult("a", "t", 1)),
  ],
])("of results that come %s each is looked at a few times, however many there are", (_, before, results) => {
  let looks = 0;
  const watched = (item: Item<ModelMessageLike>): Item<ModelMessageLike> => ({
    ...item,
    get results() {
      looks++;
      return item.results;
    },
  });
  const live = new Live<ModelMessageLike>([], () => false);
  for (const item of itemsOf<ModelMessageLike>([...before, ...results], reader)) live.append(watched(item));
  expect(looks).toBeLessThan(10 * live.items.length);
});

test("joining many neighbours copies each a few times", () => {
  let copied = 0;
  const format = {
    joined: (first: readonly number[], second: readonly number[]) => {
      copied += first.length + second.length;
      return [...first, ...second];
    },
  };
  const messages = upTo(1_024, (index) => [index]);
  expect(joinNeighbours<readonly number[]>(messages, { format })).toEqual([messages.flat()]);
  expect(copied).toBe(10 * 1_024);
});

test("neighbours are joined as one after the other, where the next group disagrees and its first does not", () => {
  // Letters must agree; a dot goes with any.
  const letterOf = (text: string): string => text.replaceAll(".", "")[0] ?? "";
  const format = {
    joined: (first: string, second: string) => {
      const [one, other] = [letterOf(first), letterOf(second)];
      return one === "" || other === "" || one === other ? first + second : undefined;
    },
  };
  expect(joinNeighbours([..."a..b"], { format })).toEqual(["a..", "b"]);
  expect(joinNeighbours([..."a.b.c..a"], { format })).toEqual(["a.", "b.", "c..", "a"]);
  expect(joinNeighbours([..."...."], { format, mayJoin: (first) => first.length > 1 })).toEqual([
    ".",
    ".",
    ".",
    ".",
  ]);
});

test("neighbours are joined by the format of what has one, as a memory has, and by none if it is forgotten", () => {
  expect(joinNeighbours([user("a"), user("b")], createChatMemory<ModelMessageLike>())).toHaveLength(1);
  expect(() => joinNeighbours([], undefined as never)).toThrow(
    expect.objectContaining({
      code: "INVALID_OPTION",
      message: expect.stringContaining("joinNeighbours' second argument"),
    }),
  );
});

test("sorting the results of one message splits it by halves", () => {
  const format = counting("without");
  const results = upTo(512, (index) => toolResult(`${511 - index}`, "t", index).content[0]);
  const message = { role: "tool", content: results } as ModelMessageLike;
  const [, sorted] = orderToolResults([callsOf(512), message], { format });
  expect(sorted?.content).toEqual(results.toReversed());
  expect(format.held).toBeLessThan(30 * 512);
});

test("approvals that came one by one are joined by halves", async () => {
  const format = counting("joined");
  const memory = createChatMemory<ModelMessageLike>({ format });
  const requests = upTo(256, (index) => ({
    type: "tool-approval-request" as const,
    approvalId: `approval-${index}`,
    toolCallId: `${index}`,
  }));
  const calls = callsOf(256).content as unknown as { type: string }[];
  await memory.add({ role: "assistant", content: [...calls, ...requests] });
  const approval = (index: number): ModelMessageLike =>
    ({
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: `approval-${index}`, approved: true }],
    }) as unknown as ModelMessageLike;
  await memory.add(...upTo(256, approval));
  expect((await memory.messages()).at(-1)?.content).toHaveLength(256);
  expect(format.held).toBeLessThan(10 * 256);
});

test("explaining a view asks about each message a few times, however many a stage changes or leaves out", async () => {
  let asked = 0;
  const format: MessageFormat<ModelMessageLike> = {
    ...modelMessageFormat,
    role: (message) => {
      asked++;
      return message.role;
    },
  };
  const count = 300;
  const messages = upTo(count, (index) => (index % 2 === 0 ? user(`${index}`) : assistant(`${index}`)));
  const shorten = {
    name: "shorten",
    process: (all: readonly ModelMessageLike[]) =>
      all.flatMap((message) => (message.role === "user" ? [] : [assistant("…")])),
  };
  const memory = createChatMemory<ModelMessageLike>({ format, processors: [shorten] });
  await memory.add(...messages);
  asked = 0;
  const { messages: explained } = await memory.explain();
  expect(explained.map(({ state }) => state)).toEqual(
    upTo(count, (index) => (index % 2 === 0 ? "filtered" : "cut")),
  );
  expect(asked).toBeLessThan(20 * count);
});

test("renaming the calls of a message finds each by its id", () => {
  let looks = 0;
  const parts = (callsOf(300).content as unknown as { type: string; toolCallId: string }[]).map((part) => ({
    ...part,
    get toolCallId() {
      looks++;
      return part.toolCallId;
    },
  }));
  modelMessageFormat.renameCalls?.({ role: "assistant", content: parts }, (id) => id);
  expect(looks).toBeLessThan(10 * 300);
});

test("an answer of more calls than a function may have arguments is repaired and sorted", async () => {
  const calls = callsOf(150_000);
  const memory = createChatMemory();
  await memory.add(calls, user("?"));
  const [, interrupted] = await memory.messages();
  expect(interrupted?.content).toHaveLength(150_000);
  expect(orderToolResults([calls, user("?")], { format: modelMessageFormat })).toHaveLength(2);
});
