import { type ChatMemory, createChatMemories, entry, type ModelMessage } from "@turnkeep/core";
import { startPostgres } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAssistant, type Tools } from "../src/index.ts";
import { type Answer, assistant, scripted, toolCall, user } from "./script.ts";

let server: Awaited<ReturnType<typeof startPostgres>>;
let stores: readonly [ReturnType<typeof postgresStore>, ReturnType<typeof postgresStore>];

beforeAll(async () => {
  server = await startPostgres();
  stores = [postgresStore({ url: server.url }), postgresStore({ url: server.url })];
  await stores[0].migrate();
});
afterAll(async () => {
  for (const store of stores ?? []) await store.close();
  await server?.stop();
});

let conversations = 0;

/**
 * A conversation that has begun, as the server has it that runs the turn, and as another has it that the user's other
 * requests come to: only the database is shared.
 */
async function conversation(): Promise<{
  readonly memory: ChatMemory<ModelMessage>;
  readonly other: ChatMemory<ModelMessage>;
  readonly erase: () => Promise<unknown>;
}> {
  const owner = `user ${++conversations}`;
  const [here, elsewhere] = stores.map((store) => createChatMemories({ store, owner }));
  const [memory, other] = [here, elsewhere].map((memories) => memories?.get(`${owner}/1`));
  if (memory === undefined || other === undefined) throw new Error("there are two servers");
  await memory.add(user("Before"), assistant("Yes?"));
  return { memory, other, erase: async () => elsewhere?.erase({ owner }) };
}

/** What is stored, without what was superseded. */
async function kept(memory: ChatMemory<ModelMessage>): Promise<unknown[]> {
  const { messages } = await memory.history({ states: ["live", "evicted"] });
  return messages.map(({ message }) => message.content);
}

const ids = [undefined, "q-1"];

/** What runs while somebody else works on the conversation: the first answer, one behind a tool, or a tool. */
const moments: Readonly<Record<string, (act: () => Promise<void>) => { answers: Answer[]; tools: Tools }>> = {
  "its model answers": (act) => ({
    answers: [() => act().then(() => assistant("Old answer"))],
    tools: {},
  }),
  "its model answers behind a tool": (act) => ({
    answers: [toolCall("c1", "t", {}), () => act().then(() => assistant("Old answer"))],
    tools: { t: { inputSchema: {}, execute: () => "Old result" } },
  }),
  "a tool runs": (act) => ({
    answers: [toolCall("c1", "t", {}), assistant("Old answer")],
    tools: { t: { inputSchema: {}, execute: () => act().then(() => "Old result") } },
  }),
  "its model fails": (act) => ({
    answers: [() => act().then(() => Promise.reject(new Error("down")))],
    tools: {},
  }),
};

/** What the turn ends with. */
const endOf = (moment: string, code: string): object =>
  moment === "its model fails" ? { message: "down" } : { code };

describe.each(Object.keys(moments))("while %s", (moment) => {
  const play = moments[moment] as (typeof moments)[string];

  describe.each(["clear", "erase"])("a conversation that %s ends, and that begins anew", (how) => {
    test.each(ids)("gets nothing of the old one: id %s", async (id) => {
      const { memory, other, erase } = await conversation();
      // The same question, under the same id, as a client sends it whose page was loaded anew.
      const anew = entry(user("Old question"), { id: id ?? "q-2" });
      const script = play(async () => {
        await (how === "clear" ? other.clear() : erase());
        await other.add(anew);
      });
      const chat = createAssistant({ model: scripted(...script.answers), memory, tools: script.tools });
      await expect(chat.chat("Old question", { id })).rejects.toMatchObject(endOf(moment, "MEMORY_DELETED"));
      expect(await kept(other)).toEqual(["Old question"]);
    });
  });

  const takesBack: Readonly<
    Record<string, (memory: ChatMemory<ModelMessage>, question: string) => Promise<unknown>>
  > = {
    rewind: (memory, question) => memory.rewind(question).then(() => memory.add(user("New question"))),
    remove: (memory, question) => memory.remove(question).then(() => memory.add(user("New question"))),
    set: (memory) => memory.set([user("New question")]),
    "remove, and added again": (memory, question) =>
      memory.remove(question).then(() => memory.add(entry(user("New question"), { id: question }))),
  };

  describe.each(Object.keys(takesBack))("a question that was taken back (%s)", (how) => {
    test.each(ids)("gets no answer behind the new one: id %s", async (id) => {
      const { memory, other } = await conversation();
      let after: unknown[] = [];
      const script = play(async () => {
        const { messages } = await other.history({ order: "descending", states: ["live", "evicted"] });
        const question = messages.find(({ message }) => message.content === "Old question");
        await takesBack[how]?.(other, question?.id ?? "");
        after = await kept(other);
      });
      const chat = createAssistant({ model: scripted(...script.answers), memory, tools: script.tools });
      await expect(chat.chat("Old question", { id })).rejects.toMatchObject(endOf(moment, "QUESTION_GONE"));
      expect(await kept(other)).toEqual(after);
      expect(after.at(-1)).toBe("New question");
    });
  });
});

test("a turn that fails does not delete what was superseded under it", async () => {
  const { memory, other } = await conversation();
  const failing: Answer = async () => {
    await other.rewind("q-1");
    throw new Error("down");
  };
  const chat = createAssistant({ model: scripted(failing), memory });
  await expect(chat.chat("Old question", { id: "q-1" })).rejects.toThrow("down");
  const { messages } = await other.history({ states: ["superseded"] });
  expect(messages.map(({ id }) => id)).toEqual(["q-1"]);
});

test("a decision of the user goes to the conversation that has begun anew, also where the old one is still known", async () => {
  const { memory, other, erase } = await conversation();
  const tools: Tools = { t: { inputSchema: {}, needsApproval: true, execute: () => "done" } };
  const asking = createAssistant({ model: scripted(toolCall("c1", "t", {})), memory, tools });
  const old = await asking.chat("Old question", { id: "q-1" });
  await erase();
  const anew = createAssistant({ model: scripted(toolCall("c1", "t", {})), memory: other, tools });
  const { approvalRequests } = await anew.chat("New question", { id: "q-1" });
  const deciding = createAssistant({ model: scripted(assistant("Done.")), memory, tools });
  const decisions = (requests: typeof approvalRequests) => ({
    approvals: requests.map(({ approvalId }) => ({ approvalId, approved: true })),
  });
  await expect(deciding.chat(decisions(old.approvalRequests), { id: "q-1" })).rejects.toMatchObject({
    code: "UNKNOWN_APPROVAL",
  });
  expect((await deciding.chat(decisions(approvalRequests), { id: "q-1" })).text).toBe("Done.");
  expect((await kept(other)).slice(0, 1)).toEqual(["New question"]);
});
