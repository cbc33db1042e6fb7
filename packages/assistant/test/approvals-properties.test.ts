import {
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  type ModelMessageLike,
  modelMessageFormat,
} from "@turnkeep/core";
import { anthropic, mistral, openai, type ProfileRules, strict, validate } from "@turnkeep/formats/profiles";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ApprovalRequest,
  type ApprovalResponse,
  type ChatResult,
  createAssistant,
  type Model,
  type ToolContext,
  tool,
} from "../src/index.ts";
import { outputsOf } from "./approval-support.ts";
import { unpaired } from "./crash-turn.ts";
import { assistant, calling } from "./script.ts";

const profiles: readonly (ProfileRules | undefined)[] = [undefined, anthropic, openai, mistral, strict];

const script = fc.record({
  profile: fc.constantFrom(...profiles),
  /** The tools that the model calls in one answer; after these it says something. */
  answers: fc.array(fc.array(fc.constantFrom("pay", "send", "look"), { minLength: 1, maxLength: 3 }), {
    maxLength: 6,
  }),
  toolConcurrency: fc.integer({ min: 1, max: 3 }),
  moves: fc.array(
    fc.record({
      kind: fc.constantFrom(
        "decide",
        "decide",
        "decide",
        "again",
        "opposite",
        "unknown",
        "late",
        "ask",
        "other",
      ),
      /** Of the calls that wait, which are decided, and how. */
      picks: fc.array(fc.constantFrom(undefined, true, false), { minLength: 3, maxLength: 3 }),
      isNewProcess: fc.boolean(),
    }),
    { maxLength: 12 },
  ),
});

type Script = typeof script extends fc.Arbitrary<infer T> ? T : never;
type Move = Script["moves"][number];

/** A client, what it knows, and what must come of all that it does. */
class Client {
  readonly runs: string[] = [];
  readonly requests: ModelMessage[][] = [];
  readonly decided = new Map<string, { readonly response: ApprovalResponse; readonly turn: string }>();
  readonly denied: string[] = [];
  readonly left: { readonly request: ApprovalRequest; readonly turn: string }[] = [];
  readonly #store = inMemoryStore();
  readonly #script: Script;
  readonly #model: Model<ModelMessage>;
  #chat: ReturnType<Client["process"]> | undefined;
  #turn = 0;
  #result: ChatResult<ModelMessage> | undefined;

  constructor(given: Script) {
    this.#script = given;
    const rest = given.answers.values();
    let made = 0;
    this.#model = async ({ messages }) => {
      this.requests.push([...messages]);
      const names = rest.next().value;
      if (names === undefined) return { message: assistant(`answer ${++made}`) };
      return { message: calling(...names.map((name) => [`call${++made}`, name] as const)) };
    };
  }

  process() {
    const { profile, toolConcurrency } = this.#script;
    const memory = createChatMemory({ id: "chat", store: this.#store, profile });
    const execute = async (_: unknown, { toolCallId }: ToolContext): Promise<string> => {
      this.runs.push(toolCallId);
      return "done";
    };
    const asking = tool({ inputSchema: {}, needsApproval: async () => true, execute });
    const tools = { pay: asking, send: asking, look: tool({ inputSchema: {}, execute }) };
    return { memory, chat: createAssistant({ model: this.#model, memory, tools, toolConcurrency }) };
  }

  async play(): Promise<void> {
    await this.#move({ kind: "other", picks: [], isNewProcess: true });
    for (const move of this.#script.moves) {
      await this.#move(move);
      await this.#look();
    }
  }

  async #move({ kind, picks, isNewProcess }: Move): Promise<void> {
    if (isNewProcess) this.#chat = undefined;
    this.#chat ??= this.process();
    const { chat } = this.#chat;
    const id = `q-${this.#turn}`;
    const waiting = this.#result?.approvalRequests ?? [];
    const before = { runs: [...this.runs], requests: this.requests.length };
    const changesNothing = (): void =>
      expect({ runs: this.runs, requests: this.requests.length }).toEqual(before);
    const known = [...this.decided.values()].filter(({ turn }) => turn === id);
    const refused = async (
      approvals: readonly ApprovalResponse[],
      turn: string,
      code: string,
    ): Promise<void> => {
      await expect(chat.chat({ approvals }, { id: turn })).rejects.toMatchObject({ code });
      changesNothing();
    };
    if (kind === "decide") {
      const approvals = waiting.flatMap(({ approvalId }, n) => {
        const approved = picks[n];
        return approved === undefined ? [] : [{ approvalId, approved }];
      });
      if (approvals.length === 0) return;
      const rest = waiting.filter((_, n) => picks[n] === undefined);
      this.#result = await chat.chat({ approvals }, { id });
      if (rest.length > 0) expect(this.#result.approvalRequests).toEqual(rest);
      if (rest.length > 0) expect(this.requests).toHaveLength(before.requests);
      for (const response of approvals) this.decided.set(response.approvalId, { response, turn: id });
      const allowed = waiting.filter((_, n) => picks[n] === true).map(({ call }) => call.id);
      this.denied.push(...waiting.filter((_, n) => picks[n] === false).map(({ call }) => call.id));
      const ran = this.runs.slice(before.runs.length);
      expect(ran.slice(0, allowed.length).sort()).toEqual(allowed.sort());
    } else if (kind === "again" && known.length > 0) {
      const approvals = known.map(({ response }) => response);
      const { usage: _, continued: __, ...again } = await chat.chat({ approvals }, { id });
      const { usage: ___, continued: ____, ...first } = this.#result as ChatResult<ModelMessage>;
      expect(again).toEqual(first);
      changesNothing();
    } else if (kind === "opposite" && known[0] !== undefined) {
      const { approvalId, approved } = known[0].response;
      await refused([{ approvalId, approved: !approved }], id, "APPROVAL_CONFLICT");
    } else if (kind === "unknown") {
      await refused([{ approvalId: "nobody's", approved: true }], id, "UNKNOWN_APPROVAL");
    } else if (kind === "late" && this.left[0] !== undefined) {
      const { request, turn } = this.left[0];
      await refused([{ approvalId: request.approvalId, approved: true }], turn, "APPROVAL_CONFLICT");
    } else if (kind === "ask") {
      const again = await chat.chat(`question ${this.#turn}`, { id });
      expect(again.approvalRequests).toEqual(waiting);
      expect(again.text).toBe(this.#result?.text);
      changesNothing();
    } else if (kind === "other") {
      for (const request of waiting) this.left.push({ request, turn: id });
      this.#turn++;
      this.#result = await chat.chat(`question ${this.#turn}`, { id: `q-${this.#turn}` });
    }
  }

  /** What is stored, as every provider would be shown it. */
  async #look(): Promise<void> {
    expect(new Set(this.runs).size).toBe(this.runs.length);
    const { memory } = this.process();
    for (const profile of profiles) {
      if (profile === undefined) continue;
      const view = await memory.messages({ profile });
      expect(validate<ModelMessageLike>(view, profile, { format: modelMessageFormat })).toEqual([]);
      expect(JSON.stringify(view)).not.toContain("interrupted");
    }
    const { messages } = await memory.history({ limit: 1000 });
    const said = messages.map(({ message }) => message);
    for (const callId of this.denied)
      expect(outputsOf(said, callId)).toMatchObject([{ type: "execution-denied" }]);
    for (const callId of this.runs)
      expect(outputsOf(said, callId)).toEqual([{ type: "text", value: "done" }]);
    for (const { request } of this.left) expect(outputsOf(said, request.call.id)).toEqual([]);
  }
}

test("whatever a user decides, in whatever process, a call runs once if it was approved in time, and else never", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (given) => {
      const client = new Client(given);
      await client.play();
      const { profile } = given;
      for (const [n, request] of client.requests.entries()) {
        if (profile === undefined) expect(unpaired(request)).toEqual([]);
        else expect(validate<ModelMessageLike>(request, profile, { format: modelMessageFormat })).toEqual([]);
        const next = client.requests[n + 1];
        if (next !== undefined) expect(next.slice(0, request.length)).toEqual(request);
      }
    }),
  );
});
