import fc from "fast-check";
import { expect, test } from "vitest";
import { assistant, type ModelMessage, type ToolCallPart, type ToolResultPart, user } from "../src/index.ts";
import { type Item, itemsOf } from "../src/steps/item.ts";
import { Live } from "../src/steps/live.ts";
import { repairMessages } from "../src/view/repair.ts";
import { formatWith } from "./step-messages.ts";

/** A message, by its role and the ids of its calls or results. */
interface Said {
  readonly by: "user" | "model" | "tool";
  readonly ids: readonly string[];
}

const ids = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 2 });
const said: fc.Arbitrary<Said> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<Said>({ by: "user", ids: [] }, { by: "model", ids: [] }) },
  { weight: 2, arbitrary: fc.record({ by: fc.constantFrom("model" as const, "tool" as const), ids }) },
);

function messageOf({ by, ids: own }: Said): ModelMessage {
  if (by === "user") return user("?");
  if (by === "tool") return { role: "tool", content: own.map(result) };
  const calls = own.map((id) => ({ type: "tool-call", toolCallId: id, toolName: "t", input: {} }) as const);
  return assistant([{ type: "text", text: "!" }, ...calls]);
}

function result(toolCallId: string): ToolResultPart {
  return { type: "tool-result", toolCallId, toolName: "t", output: { type: "text", value: "r" } };
}

/** Messages that are one step, with the ids of their calls and results. */
interface Group {
  readonly places: number[];
  readonly calls: string[];
  readonly results: string[];
}

const times = (id: string, all: readonly string[]): number => all.filter((one) => one === id).length;
const waits = ({ calls, results }: Group, id: string): boolean => times(id, results) < times(id, calls);

/** What the documents say of steps, done the slow and obvious way, for whole answers without approvals. */
function groupsOf(list: readonly Said[], answersJoin: boolean): number[][] {
  const groups: Group[] = [];
  let newestAnswer: Group | undefined;
  /** The groups of the answers directly before this message. */
  let run: Group[] = [];
  for (const [place, { by, ids: own }] of list.entries()) {
    if (by === "tool") {
      run = [];
      const askers = own.map(
        (id) =>
          groups.findLast((group) => waits(group, id)) ?? groups.findLast(({ calls }) => calls.includes(id)),
      );
      const asker = askers.includes(newestAnswer)
        ? newestAnswer
        : askers.find((group) => group !== undefined);
      if (asker === undefined) groups.push({ places: [place], calls: [], results: [...own] });
      else {
        asker.places.push(place);
        asker.results.push(...own);
      }
      continue;
    }
    const unfinished = run.findLast((group) => group.calls.length > 0);
    const joins = answersJoin && own.length > 0 && unfinished?.calls.some((id) => waits(unfinished, id));
    const group = joins && unfinished ? unfinished : { places: [], calls: [], results: [] };
    const merged = joins ? run.slice(run.indexOf(group) + 1) : [];
    for (const orphan of groups) {
      const isEarly = orphan.calls.length === 0 && orphan.results.some((id) => own.includes(id));
      if (isEarly) merged.push(orphan);
    }
    for (const { places, results } of merged) {
      group.places.push(...places);
      group.results.push(...results);
    }
    for (const gone of merged) groups.splice(groups.indexOf(gone), 1);
    group.places.push(place);
    group.calls.push(...own);
    if (!groups.includes(group)) groups.push(group);
    run =
      by === "user" ? [] : [...run.filter((before) => before !== group && !merged.includes(before)), group];
    if (by === "model") newestAnswer = group;
  }
  return groups
    .map(({ places }) => places.sort((a, b) => a - b))
    .sort((a, b) => (a[0] as number) - (b[0] as number));
}

test.each(["joined", "apart"] as const)("results join the step of their call, with answers %s", (answers) => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 12 }), (list) => {
      const live = new Live<ModelMessage>([], undefined, answers);
      for (const item of itemsOf(list.map(messageOf), { format: formatWith(false) })) live.append(item);
      const steps = live.steps
        .map(({ items }) => items.map(({ seq }) => seq).sort((a, b) => a - b))
        .sort((a, b) => (a[0] as number) - (b[0] as number));
      expect(steps).toEqual(groupsOf(list, answers === "joined"));
    }),
    { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 500) },
  );
});

const call = (id: string): ToolCallPart => ({ type: "tool-call", toolCallId: id, toolName: "t", input: {} });
const request = { type: "tool-approval-request", approvalId: "ask", toolCallId: "a" } as const;

function liveOf(list: readonly ModelMessage[]): Live<ModelMessage> {
  return new Live(itemsOf(list, { format: formatWith(false) }));
}

test("an approval joins the newest step that asked under its id", () => {
  const asking = assistant([call("a"), request]);
  const response: ModelMessage = {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "ask", approved: true }],
  };
  const live = liveOf([asking, user("?"), asking, user("?"), response]);
  expect(live.steps.map(({ items }) => items.map(({ seq }) => seq))).toEqual([[0], [1], [2, 4], [3]]);
});

test("a result beside its own call is nobody else's, and not late", () => {
  const live = liveOf([assistant([call("a")]), user("?"), assistant("!")]);
  const [item] = itemsOf<ModelMessage>(
    [assistant([call("a"), result("a")])],
    { format: formatWith(false) },
    3,
  );
  expect(live.lateCalls(item as Item<ModelMessage>)).toEqual([]);
});

test("of more results of one id than calls, in one message, the first are shown", () => {
  const answers = ["first", "second", "third"].map((value): ToolResultPart => {
    return { ...result("a"), output: { type: "text", value } };
  });
  const calls = assistant([call("a"), call("a")]);
  const { messages } = repairMessages<ModelMessage>(
    [calls, { role: "tool", content: answers }],
    formatWith(false),
    "any",
  );
  expect(messages).toEqual([calls, { role: "tool", content: answers.slice(0, 2) }]);
});

test("an interrupted result goes behind one of its id, and what was approved last stays last", () => {
  const asking = assistant([call("a"), call("a"), request]);
  const response: ModelMessage = {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "ask", approved: true }],
  };
  const answer: ModelMessage = { role: "tool", content: [result("a")] };
  const { messages } = repairMessages<ModelMessage>(
    [asking, response, answer, user("?")],
    formatWith(false),
    "any",
  );
  expect(messages.map((message) => (message === answer ? "answer" : message.role))).toEqual([
    "assistant",
    "tool",
    "answer",
    "tool",
    "user",
  ]);
  expect(messages[1]).toEqual(response);
});

test("where answers come in parts, results before their call go behind it, in their order", () => {
  const [first, second] = ["first", "second"].map((value): ModelMessage => {
    return { role: "tool", content: [{ ...result("a"), output: { type: "text", value } }] };
  }) as [ModelMessage, ModelMessage];
  const calls = assistant([call("a")]);
  const { messages } = repairMessages<ModelMessage>([first, calls, calls, second], formatWith(true), "any");
  expect(messages).toEqual([calls, calls, first, second]);
});
