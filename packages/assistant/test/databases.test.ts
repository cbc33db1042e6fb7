import {
  type ChatMemoryStore,
  createChatMemory,
  isTurnkeepError,
  type ModelMessage,
  TurnkeepError,
} from "@turnkeep/core";
import { startDynamo, startMongo, startPostgres, startRedis } from "@turnkeep/servers";
import { dynamoStore } from "@turnkeep/store-dynamo";
import { mongoStore } from "@turnkeep/store-mongo";
import { postgresStore } from "@turnkeep/store-postgres";
import { redisStore } from "@turnkeep/store-redis";
import { gate } from "@turnkeep/store-tests/gate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ApprovalResponse,
  type Assistant,
  type AssistantPolicy,
  createAssistant,
  isAssistantError,
  type ToolContext,
} from "../src/index.ts";
import { all, asking, decision, id, outputsOf } from "./approval-support.ts";
import { unpaired } from "./crash-turn.ts";
import { assistant } from "./script.ts";

type Store = ChatMemoryStore & { migrate?(): Promise<void> };

const databases = {
  Postgres: { start: () => startPostgres(), open: (url: string): Store => postgresStore({ url }) },
  Redis: { start: () => startRedis(), open: (url: string): Store => redisStore({ url }) },
  MongoDB: { start: () => startMongo(), open: (url: string): Store => mongoStore({ url }) },
  DynamoDB: { start: () => startDynamo(), open: (url: string): Store => dynamoStore({ url }) },
};
/** The stores answer alike, as the conformance kit says: the usual run takes the two whose servers start soonest. */
const names = Object.keys(databases).slice(0, process.env.TURNKEEP_THOROUGH ? 4 : 2);

/** What all processes of a conversation have done. */
interface World {
  readonly memoryId: string;
  readonly runs: string[];
  readonly requests: ModelMessage[][];
  /** What a call waits for behind its beginning. */
  readonly until?: Promise<void>;
}

/** An assistant over a store, as another process has it: only the database is shared. */
function assistantOver(
  store: ChatMemoryStore,
  world: World,
  policy: Pick<AssistantPolicy<ModelMessage>, "busy" | "leaseMs"> = {},
): Assistant<ModelMessage> {
  // One that is cut off ends soon.
  const retry = policy.leaseMs === undefined;
  const memory = createChatMemory({ id: world.memoryId, store, window: { maxMessages: 20 }, retry });
  const execute = async (_: unknown, { toolCallId }: ToolContext): Promise<string> => {
    world.runs.push(toolCallId);
    // Work, during which the other process has time to look.
    await store.listMemories({});
    if (toolCallId === "c-pay") await world.until;
    return `result of ${toolCallId}`;
  };
  const free = { inputSchema: {}, execute };
  const tools = {
    pay: { ...free, needsApproval: true },
    send: { ...free, needsApproval: true },
    look: free,
  };
  const model = async ({ messages }: { readonly messages: readonly ModelMessage[] }) => {
    world.requests.push([...messages]);
    return { message: messages.at(-1)?.role === "tool" ? assistant("Done.") : asking };
  };
  return createAssistant({ memory, model, tools, ...policy });
}

/** A store that a process does not reach any more once it is cut off. */
function cuttable(store: ChatMemoryStore): { readonly store: ChatMemoryStore; readonly cut: () => void } {
  let isCut = false;
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isCut) throw new TurnkeepError("STORE_UNAVAILABLE", "cut off");
    return call();
  };
  return {
    store: {
      ...store,
      getMessages: (...given) => through(() => store.getMessages(...given)),
      updateMessages: (...given) => through(() => store.updateMessages(...given)),
    },
    cut: () => {
      isCut = true;
    },
  };
}

/** As a client does that was told to send its decisions again; `undefined` if the user has decided otherwise. */
async function settle(
  chat: Assistant<ModelMessage>,
  approvals: readonly ApprovalResponse[],
): Promise<string | undefined> {
  for (;;) {
    try {
      return (await chat.chat({ approvals }, { id })).text;
    } catch (error) {
      if (isAssistantError(error, "APPROVAL_CONFLICT")) return undefined;
      if (!isAssistantError(error, "BUSY") && !isTurnkeepError(error, "ID_CONFLICT")) throw error;
    }
  }
}

const callIds = ["c-pay", "c-look", "c-send"];
const result = (callId: string): object => ({ type: "text", value: `result of ${callId}` });
const saysInterrupted = (messages: readonly ModelMessage[]): boolean =>
  JSON.stringify(messages).includes("interrupted");

describe.each(names as (keyof typeof databases)[])("calls that wait in %s", (name) => {
  const { start, open } = databases[name];
  let server: { readonly url: string; stop(): Promise<unknown> };
  let stores: readonly [Store, Store];
  beforeAll(async () => {
    server = await start();
    stores = [open(server.url), open(server.url)];
    await stores[0].migrate?.();
  });
  afterAll(async () => {
    for (const store of stores ?? []) await store.close();
    await server?.stop();
  });

  const said = async ({ memoryId }: World): Promise<ModelMessage[]> => {
    const { messages } = await createChatMemory({ id: memoryId, store: stores[0] }).history();
    return messages.map(({ message }) => message);
  };

  test.each(["the same", "apart", "the opposite"])(
    "run once at most when two processes decide %s at once",
    async (how) => {
      const conversations = Array.from({ length: 3 }, async (_, n) => {
        const world: World = { memoryId: `${how} ${n}`, runs: [], requests: [] };
        const [one, other] = stores.map((store) => assistantOver(store, world)) as [
          Assistant<ModelMessage>,
          Assistant<ModelMessage>,
        ];
        const waiting = await one.chat("Go", { id });
        const pairs = {
          "the same": [all(waiting, true), all(waiting, true)],
          apart: [[decision(waiting, "c-pay", true)], [decision(waiting, "c-send", true)]],
          "the opposite": [all(waiting, true), all(waiting, false)],
        } as const;
        const [first, second] = pairs[how as keyof typeof pairs];
        const texts = await Promise.all([settle(one, first), settle(other, second)]);

        const messages = await said(world);
        const allowed = how === "the opposite" && texts[0] === undefined ? ["c-look"] : callIds;
        expect([...world.runs].sort()).toEqual([...allowed].sort());
        for (const callId of callIds) {
          const expected = allowed.includes(callId) ? result(callId) : { type: "execution-denied" };
          expect(outputsOf(messages, callId)).toMatchObject([expected]);
        }
        expect(texts.filter((text) => text === "Done.").length).toBeGreaterThan(0);
        expect(messages.filter(({ content }) => content === "Done.")).toHaveLength(1);
        expect(world.requests.filter(saysInterrupted)).toEqual([]);
        expect(unpaired(messages)).toEqual([]);
      });
      await Promise.all(conversations);
    },
  );

  test("hold other decisions up while one of them runs, and those behind a lost process until somebody says so", async () => {
    const { opened: until, open: end } = gate();
    const world: World = { memoryId: "running", runs: [], requests: [], until };
    const { store, cut } = cuttable(stores[0]);
    const lost = assistantOver(store, world, { leaseMs: 3000 });
    const other = assistantOver(stores[1], world);
    const waiting = await lost.chat("Go", { id });
    const late = lost.chat({ approvals: [decision(waiting, "c-pay", true)] }, { id });
    const ended = expect(late).rejects.toMatchObject({ code: "TURN_LOST" });
    await expect.poll(() => world.runs).toContain("c-pay");
    const approvals = [decision(waiting, "c-send", true)];
    const before = await said(world);
    const refusing = assistantOver(stores[1], world, { busy: "reject" });
    await expect(refusing.chat({ approvals }, { id })).rejects.toMatchObject({ code: "BUSY" });
    cut();
    await expect(other.chat({ approvals }, { id })).rejects.toMatchObject({ code: "BUSY" });
    await ended;
    expect(await said(world)).toEqual(before);

    expect(await other.chat("Go", { id })).toMatchObject({
      approvalRequests: [{ call: { id: "c-send" } }],
    });
    expect(await other.chat({ approvals }, { id })).toMatchObject({ text: "Done." });
    const after = await said(world);
    expect(outputsOf(after, "c-pay")).toMatchObject([{ value: expect.stringContaining("interrupted") }]);
    expect(outputsOf(after, "c-send")).toEqual([result("c-send")]);
    end();
    expect(await said(world)).toEqual(after);
    expect([...world.runs].sort()).toEqual([...callIds].sort());
  });
});
