import { createChatMemory, inMemoryStore, type ModelMessage } from "@turnkeep/core";
import { strict } from "@turnkeep/formats/profiles";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssistant, isAssistantError, type Tools, tool } from "../src/index.ts";
import { refusals, unpaired } from "./crash-turn.ts";
import { assistant, calling, scripted } from "./script.ts";

/** What a model does at one request. */
type Move =
  | { readonly kind: "say" | "fail" | "nothing" | "abort" }
  | { readonly kind: "call"; readonly tools: readonly string[] };

const toolNames = ["fine", "slow", "bad", "aborting", "unknown", "invalid"];
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "say" } as const) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      tools: fc.array(fc.constantFrom(...toolNames), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: "fail" }, { kind: "nothing" }, { kind: "abort" }) },
);

const script = fc.record({
  moves: fc.array(move, { maxLength: 14 }),
  /** Each chat: which question, whether it has an id, and whether the next one waits for it. */
  chats: fc.array(
    fc.record({ question: fc.nat(3), hasId: fc.boolean(), waits: fc.boolean(), isLeft: fc.boolean() }),
    { minLength: 1, maxLength: 6 },
  ),
  maxRoundTrips: fc.nat(3),
  toolConcurrency: fc.integer({ min: 1, max: 3 }),
  strategy: fc.constantFrom("answer", "throw"),
  tooManyRoundTrips: fc.constantFrom("answer", "throw"),
  busy: fc.constantFrom("enqueue", "reject"),
  onAbort: fc.constantFrom("keep", "discard"),
  isShaped: fc.boolean(),
});

type Script = typeof script extends fc.Arbitrary<infer T> ? T : never;

interface Outcome {
  readonly requests: ModelMessage[][];
  readonly kept: readonly { readonly id: string; readonly state: string; readonly message: ModelMessage }[];
  readonly view: ModelMessage[];
  readonly ran: ReadonlyMap<string, string>;
  readonly results: readonly { readonly id: string; readonly text: string }[];
}

async function play({
  moves,
  chats,
  strategy,
  tooManyRoundTrips,
  isShaped,
  ...policy
}: Script): Promise<Outcome> {
  const store = inMemoryStore();
  const memory = createChatMemory({ id: "chat", store, profile: isShaped ? strict : undefined });
  const ran = new Map<string, string>();
  let controller = new AbortController();
  const ran1 = (id: string, text: string): string => {
    if (ran.has(id)) throw new Error(`${id} ran twice`);
    ran.set(id, text);
    return text;
  };
  const tools: Tools = {
    fine: tool({ inputSchema: {}, execute: (_, { toolCallId: id }) => ran1(id, `fine ${id}`) }),
    slow: tool({
      inputSchema: {},
      execute: async (_, { toolCallId: id }) => {
        for (let turns = 0; turns < 5; turns++) await Promise.resolve();
        return ran1(id, `slow ${id}`);
      },
    }),
    bad: tool({
      inputSchema: {},
      execute: (_, { toolCallId: id }) => {
        throw new Error(ran1(id, `bad ${id}`));
      },
    }),
    aborting: tool({
      inputSchema: {},
      execute: (_, { toolCallId: id }) => {
        ran1(id, `aborting ${id}`);
        controller.abort();
        return new Promise(() => undefined);
      },
    }),
    invalid: tool({ inputSchema: {}, execute: (_, { toolCallId: id }) => ran1(id, "never") }),
  };
  let made = 0;
  const model = scripted(
    ...moves.map((each) => async (): Promise<ModelMessage> => {
      if (each.kind === "fail") throw new Error("timeout");
      if (each.kind === "nothing") return assistant("");
      if (each.kind === "abort") controller.abort();
      if (each.kind !== "call") return assistant(`answer ${++made}`);
      return calling(
        ...each.tools.map((name) => [`call-${++made}`, name, name === "invalid" ? "{" : {}] as const),
      );
    }),
  );
  const chat = createAssistant({
    model,
    memory,
    tools,
    strategies: {
      toolError: strategy,
      invalidInput: strategy,
      unknownTool: strategy,
      tooManyRoundTrips,
    } as never,
    ...(policy as object),
  });
  const running: Promise<unknown>[] = [];
  for (const { question, hasId, waits, isLeft } of chats) {
    if (waits) await Promise.allSettled(running.splice(0));
    if (running.length === 0) controller = new AbortController();
    const options = { signal: controller.signal, ...(hasId ? { id: `q-${question}` } : {}) };
    const turn = async (): Promise<unknown> => {
      if (!isLeft) return chat.chat(`question ${question}`, options);
      for await (const _ of chat.stream(`question ${question}`, options)) break;
      return undefined;
    };
    running.push(turn());
  }
  for (const end of await Promise.allSettled(running)) {
    if (end.status === "rejected" && isAssistantError(end.reason, "UNDO_FAILED")) throw end.reason;
  }
  const { messages: kept } = await memory.history({ limit: 1000 });
  const results = kept.flatMap(({ message }) =>
    message.role === "tool"
      ? message.content.flatMap((part) =>
          part.type === "tool-result" ? [{ id: part.toolCallId, text: JSON.stringify(part.output) }] : [],
        )
      : [],
  );
  const requests = model.requests.map(({ messages }) => [...messages]);
  return { requests, kept, view: await memory.messages(), ran, results };
}

test("whatever a model, its tools and its callers do, no provider refuses what comes of it", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (each) => {
      const { requests, view, kept, ran, results } = await play(each);
      expect(requests.flatMap(each.isShaped ? refusals : unpaired)).toEqual([]);
      if (view.length > 0) expect(unpaired(view)).toEqual([]);
      // The memory holds no call without its result, and no result twice.
      const calls = kept.flatMap(({ message }) =>
        message.role === "assistant" && typeof message.content !== "string"
          ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
          : [],
      );
      expect(results.map(({ id }) => id).sort()).toEqual(calls.sort());
      // What a tool did is on record, as far as it came to an end.
      for (const [id, text] of ran) {
        const result = results.find((other) => other.id === id);
        expect(result?.text).toContain(text.startsWith("aborting") ? "interrupted" : "");
        if (!/^aborting|^bad/.test(text) && !result?.text.includes("interrupted"))
          expect(result?.text).toContain(text);
      }
      // A question with an id stands once, and every question is answered, by tools at least, unless it was stopped.
      const ids = kept.map(({ id }) => id).filter((id) => id.startsWith("q-"));
      expect(new Set(ids).size).toBe(ids.length);
      for (const [at, { message }] of kept.entries()) {
        if (message.role !== "user" || each.onAbort === "keep") continue;
        expect(kept[at + 1]?.message.role).toBe("assistant");
      }
    }),
  );
});
