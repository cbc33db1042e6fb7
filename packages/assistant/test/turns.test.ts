import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  TurnkeepError,
} from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { expect, test } from "vitest";
import { createAssistant } from "../src/index.ts";
import { assistant, scripted, user } from "./script.ts";

type Memory = ChatMemory<ModelMessage>;

/** One conversation, opened by as many processes as there are calls. */
function conversation(store = inMemoryStore()): { store: ChatMemoryStore; open: () => Memory } {
  return { store, open: () => createChatMemory({ id: "chat", store }) };
}

/** An answer that comes when it is told to. */
function held(text: string) {
  const { opened, open } = gate();
  return { model: scripted(() => opened.then(() => assistant(text))), release: open };
}

const contents = async (memory: Memory): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

test("a chat waits for a turn of another process", async () => {
  const { open } = conversation();
  const first = held("1");
  const one = createAssistant({ model: first.model, memory: open() }).chat("a");
  await expect.poll(() => first.model.requests.length).toBe(1);
  const later = scripted(assistant("2"));
  const two = createAssistant({ model: later, memory: open() }).chat("b");
  first.release();
  expect((await Promise.all([one, two])).map(({ text }) => text)).toEqual(["1", "2"]);
  expect(await contents(open())).toEqual(["a", "1", "b", "2"]);
});

test("or is refused, with busy: reject", async () => {
  const { open } = conversation();
  const first = held("1");
  const one = createAssistant({ model: first.model, memory: open() }).chat("a");
  await expect.poll(() => first.model.requests.length).toBe(1);
  const other = createAssistant({ model: scripted(assistant("2")), memory: open(), busy: "reject" });
  await expect(other.chat("b")).rejects.toMatchObject({
    name: "AssistantError",
    code: "BUSY",
    details: { memoryId: "chat" },
  });
  first.release();
  await one;
  expect((await other.chat("b")).text).toBe("2");
});

test("the same question in two processes at once is one turn, if both have its id", async () => {
  const { open } = conversation();
  const models = [scripted(assistant("1")), scripted(assistant("1"))];
  const both = await Promise.all(
    models.map((model) => createAssistant({ model, memory: open() }).chat("a", { id: "q-1" })),
  );
  expect(both.map(({ continued }) => continued).sort()).toEqual([false, true]);
  expect(models.flatMap(({ requests }) => requests)).toHaveLength(1);
  expect(await contents(open())).toEqual(["a", "1"]);
});

test("a turn is stopped from another process, and what was streamed stays", async () => {
  const { open } = conversation();
  const model = scripted(({ onDelta }) => {
    onDelta?.({ type: "text", text: "Do" });
    return new Promise(() => {});
  });
  const turn = createAssistant({ model, memory: open() }).chat("a", { id: "q-1" });
  const ended = expect(turn).rejects.toMatchObject({
    code: "ABORTED",
    message: expect.stringContaining("requestStop"),
  });
  await expect.poll(() => model.requests.length).toBe(1);
  expect(await open().requestStop()).toBe(true);
  await ended;
  expect(await open().running()).toBe(false);
  expect((await open().messages())[0]).toEqual(user("a"));
});

test("a process that died is replaced once leaseMs is over", async () => {
  const { store, open } = conversation();
  let isDead = false;
  const dies = async <T>(answer: Promise<T>): Promise<T> => (isDead ? new Promise(() => {}) : answer);
  const dead = createChatMemory({
    id: "chat",
    store: {
      ...store,
      getMessages: (...given) => dies(store.getMessages(...given)),
      updateMessages: (...given) => dies(store.updateMessages(...given)),
    },
  });
  const model = scripted(() => new Promise(() => {}));
  createAssistant({ model, memory: dead, leaseMs: 100 })
    .chat("a", { id: "q-1" })
    .catch(() => {});
  await expect.poll(() => model.requests.length).toBe(1);
  isDead = true;
  const next = createAssistant({ model: scripted(assistant("1")), memory: open() });
  expect(await next.chat("a", { id: "q-1" })).toMatchObject({ text: "1", id: "q-1" });
  expect(await contents(open())).toEqual(["a", "1"]);
});

test("a turn that lost its lease is TURN_LOST, and neither stores nor takes back anything", async () => {
  const { store, open } = conversation();
  let isAway = false;
  const cut = createChatMemory({
    id: "chat",
    retry: false,
    store: {
      ...store,
      updateMessages: async (...given) => {
        if (isAway) throw new TurnkeepError("STORE_UNAVAILABLE", "away");
        return store.updateMessages(...given);
      },
    },
  });
  const model = scripted(({ onDelta }) => {
    onDelta?.({ type: "text", text: "Do" });
    return new Promise(() => {});
  });
  const turn = createAssistant({ model, memory: cut, leaseMs: 100 }).chat("a");
  const ended = expect(turn).rejects.toMatchObject({ code: "TURN_LOST" });
  await expect.poll(() => model.requests.length).toBe(1);
  isAway = true;
  await ended;
  expect(await contents(open())).toEqual(["a"]);
});

test("a turn takes a write more at each end than its messages", async () => {
  const { store } = conversation();
  const calls: string[] = [];
  const counted: ChatMemoryStore = {
    ...store,
    getMessages: (...given) => {
      calls.push("read");
      return store.getMessages(...given);
    },
    updateMessages: (id, update, options) => {
      calls.push(update.append.length === 0 ? "lease" : "write");
      return store.updateMessages(id, update, options);
    },
  };
  const memory = createChatMemory({ id: "chat", store: counted });
  await createAssistant({ model: scripted(assistant("1")), memory }).chat("a");
  expect(calls.filter((call) => call !== "read")).toEqual(["lease", "write", "write", "lease"]);
  calls.length = 0;
  await createAssistant({ model: scripted(assistant("2")), memory }).chat("b");
  // One read is the model's view.
  expect(calls).toEqual(["lease", "write", "read", "write", "lease"]);
});
