import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  toolResult,
} from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { createAssistant, type Tools } from "../src/index.ts";
import { type Answer, assistant, calling, scripted, unheld, user } from "./script.ts";

/**
 * A client's request broke off in one process, and the client asks another one with the same id. The lease keeps the two
 * apart (turns.test.ts); here nothing does.
 */
function twoProcesses(): {
  readonly store: ChatMemoryStore;
  readonly open: (through?: ChatMemoryStore) => ChatMemory<ModelMessage>;
  /** A turn that waits for its model until it is given up. */
  readonly first: (through?: ChatMemoryStore) => Promise<{ readonly giveUp: () => Promise<void> }>;
  /** The same turn in another process. */
  readonly second: (
    answer: Answer,
    options?: { readonly through?: ChatMemoryStore; readonly tools?: Tools },
  ) => Promise<string>;
} {
  const store = inMemoryStore();
  const open = (through = store): ChatMemory<ModelMessage> =>
    unheld(createChatMemory({ id: "chat", store: through }));
  return {
    store,
    open,
    first: async (through) => {
      const controller = new AbortController();
      const model = scripted(() => new Promise(() => {}));
      const chat = createAssistant({ model, memory: open(through), onAbort: "discard" });
      const turn = chat.chat("Go", { id: "q-1", signal: controller.signal });
      const ended = expect(turn).rejects.toMatchObject({ code: "ABORTED" });
      await expect.poll(() => model.requests.length).toBe(1);
      return {
        giveUp: async () => {
          controller.abort();
          await ended;
        },
      };
    },
    second: async (answer, { through, tools } = {}) => {
      const chat = createAssistant({ model: scripted(answer), memory: open(through), tools });
      return (await chat.chat("Go", { id: "q-1" })).text;
    },
  };
}

/** The text of the model's request is the answer, so that it tells what the model was shown. */
const echo: Answer = async ({ messages }) => assistant(messages.map(({ content }) => content).join(", "));

test.each([[], [user("Before"), assistant("Yes?")]])(
  "of a question that another process takes back while this one begins with it no model is asked (%#)",
  async (...before) => {
    const { store, open, first, second } = twoProcesses();
    await open().add(...before);
    const { giveUp } = await first();
    // The second has found the question, and has not yet read what the model is shown.
    const late: ChatMemoryStore = {
      ...store,
      getHistory: async (...args) => {
        const page = await store.getHistory(...args);
        if (args[1].ids === undefined) await giveUp();
        return page;
      },
    };
    await expect(second(echo, { through: late })).rejects.toMatchObject({ code: "QUESTION_GONE" });
    expect(await open().messages()).toEqual(before);
    const shown = [...before.map(({ content }) => content), "Go"].join(", ");
    expect(await second(echo)).toBe(shown);
    expect(await open().messages()).toEqual([...before, user("Go"), assistant(shown)]);
  },
);

test("a question that another process takes back while this one's model answers gets no answer until it is asked again", async () => {
  const { open, first, second } = twoProcesses();
  const { giveUp } = await first();
  const answer: Answer = async () => {
    await giveUp();
    return assistant("Done.");
  };
  await expect(second(answer)).rejects.toMatchObject({ code: "QUESTION_GONE" });
  expect(await open().messages()).toEqual([]);
  expect(await second(assistant("Done."))).toBe("Done.");
  expect(await open().messages()).toEqual([user("Go"), assistant("Done.")]);
});

test("a question whose turn another process stops stays for this one, and so does what that one kept", async () => {
  const { open, second } = twoProcesses();
  const controller = new AbortController();
  const model = scripted(() => new Promise(() => {}));
  const chat = createAssistant({ model, memory: open() });
  const stopped = chat.chat("Go", { id: "q-1", signal: controller.signal });
  await expect.poll(() => model.requests.length).toBe(1);
  const answer: Answer = async () => {
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
    return assistant("Done.");
  };
  expect(await second(answer)).toBe("Done.");
  expect(await open().messages()).toEqual([user("Go"), assistant("Done.")]);
});

describe("what one process has streamed of an answer when it is stopped, and the whole one of another", () => {
  const run = () => {
    const { open, second } = twoProcesses();
    const controller = new AbortController();
    const model = scripted(({ onDelta }) => {
      onDelta?.({ type: "text", text: "Do" });
      return new Promise(() => {});
    });
    const stream = createAssistant({ model, memory: open() }).stream("Go", {
      id: "q-1",
      signal: controller.signal,
    });
    const stop = async (): Promise<void> => {
      controller.abort();
      await expect(stream.next()).rejects.toMatchObject({ code: "ABORTED" });
    };
    return { open, second, stream, stop };
  };

  test("do not both stand behind the question if it was stopped first", async () => {
    const { open, second, stream, stop } = run();
    await stream.next();
    const whole = second(() => stop().then(() => assistant("Done.")));
    await expect(whole).rejects.toMatchObject({ code: "ID_CONFLICT" });
    expect(await open().messages()).toEqual([user("Go"), assistant("Do")]);
    expect(await second(assistant("Never asked."))).toBe("Do");
  });

  test("do not both stand behind the question if it was answered first", async () => {
    const { open, second, stream, stop } = run();
    await stream.next();
    expect(await second(assistant("Done."))).toBe("Done.");
    await stop();
    expect(await open().messages()).toEqual([user("Go"), assistant("Done.")]);
  });

  test("a number of an earlier turn of that id, whose question was removed, stops neither", async () => {
    const { open, second, stream, stop } = run();
    await stream.next();
    await stop();
    await open().remove("q-1");
    expect(await second(assistant("Done."))).toBe("Done.");
    expect(await open().messages()).toEqual([assistant("Do"), user("Go"), assistant("Done.")]);
  });
});

test("a turn that is given up leaves the question that another process has answered", async () => {
  const { open, first, second } = twoProcesses();
  const { giveUp } = await first();
  expect(await second(assistant("Done."))).toBe("Done.");
  await giveUp();
  expect(await open().messages()).toEqual([user("Go"), assistant("Done.")]);
});

test.each(["getHistory", "updateMessages"] as const)(
  "a turn that is given up leaves the question that another process answers at that moment, before its %s",
  async (name) => {
    const { store, open, first, second } = twoProcesses();
    const answer = async (): Promise<void> => {
      held = () => Promise.resolve();
      expect(await second(assistant("Done."))).toBe("Done.");
    };
    let held = (): Promise<void> => Promise.resolve();
    const late: ChatMemoryStore = {
      ...store,
      [name]: async (...args: never) => {
        await held();
        return (store[name] as (...args: never) => unknown)(...args);
      },
    };
    const { giveUp } = await first(late);
    held = answer;
    await giveUp();
    expect(await open().messages()).toEqual([user("Go"), assistant("Done.")]);
  },
);

test("a turn that is given up takes its question back although others write meanwhile", async () => {
  const { store, open, first } = twoProcesses();
  let writes = 0;
  const busy: ChatMemoryStore = {
    ...store,
    updateMessages: async (...args) => {
      if (writes > 0 && writes++ < 4) await open().add(user(`Another ${writes}`));
      return store.updateMessages(...args);
    },
  };
  const { giveUp } = await first(busy);
  writes = 1;
  await giveUp();
  expect(await open().messages()).toEqual([2, 3, 4].map((each) => user(`Another ${each}`)));
});

test("a turn that is given up in its tool leaves the result that another process has stored", async () => {
  const { open, second } = twoProcesses();
  const controller = new AbortController();
  let runs = 0;
  const tools: Tools = {
    again: {
      inputSchema: {},
      idempotent: true,
      execute: () => (++runs === 1 ? new Promise(() => {}) : "done"),
    },
  };
  const chat = createAssistant({ model: scripted(calling(["c1", "again"])), memory: open(), tools });
  const first = chat.chat("Go", { id: "q-1", signal: controller.signal });
  await expect.poll(() => runs).toBe(1);
  expect(await second(assistant("Done."), { tools })).toBe("Done.");
  controller.abort();
  await expect(first).rejects.toMatchObject({ code: "ABORTED" });
  expect(await open().messages()).toEqual([
    user("Go"),
    calling(["c1", "again"]),
    toolResult("c1", "again", "done"),
    assistant("Done."),
  ]);
});

test.each([
  { idempotent: false, expected: 1 },
  { idempotent: true, expected: 2 },
])(
  "of an answer that both processes get, from a cache say, a tool is run by one, or by both: %o",
  async (each) => {
    const { idempotent, expected } = each;
    const { open } = twoProcesses();
    let runs = 0;
    const execute = (): string => {
      runs++;
      return "Booked.";
    };
    const tools: Tools = { book: { inputSchema: { type: "object" }, idempotent, execute } };
    const answer = calling(["call-1", "book"]);
    const stored = async (): Promise<boolean> => {
      const [found] = (await open().history({ ids: ["q-1/0"] })).messages;
      return found !== undefined;
    };
    // Who begins late, after a conflict about the question, would find the turn finished.
    let asked = 0;
    const ask = (before: () => Promise<void>): Promise<{ readonly text: string }> => {
      const model = scripted(
        async () => {
          asked++;
          await expect.poll(() => asked, { interval: 1 }).toBe(2);
          await before();
          return answer;
        },
        async ({ messages }) => assistant(`${messages.length}`),
      );
      return createAssistant({ model, memory: open(), tools }).chat("Go", { id: "q-1" });
    };
    const ended = await Promise.allSettled([
      ask(async () => {}),
      ask(() => expect.poll(stored, { interval: 1 }).toBe(true)),
    ]);
    expect(runs).toBe(expected);
    if (idempotent) return;
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(ended.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "ID_CONFLICT" },
    });
  },
);
