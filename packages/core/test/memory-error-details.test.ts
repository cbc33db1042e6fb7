import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import {
  assistant,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  system,
  TurnkeepError,
  type TurnkeepErrorCode,
  type TurnkeepErrorDetails,
  user,
} from "../src/index.ts";
import { isOpenOutcome } from "../src/memory/deadline.ts";

/** Two messages under ids of the caller's own, of which the first has left memory. */
async function setUp() {
  const store = inMemoryStore();
  const memories = createChatMemories({ store });
  const memory = memories.get("m");
  await memory.add(
    entry(system("0"), { id: "s" }),
    entry(user("1"), { id: "a" }),
    entry(user("2"), { id: "b" }),
  );
  await memory.compact({ through: "a", replacement: assistant("1") });
  return { store, memories, memory };
}

type Setting = Awaited<ReturnType<typeof setUp>>;

const refused: readonly (readonly [
  what: string,
  call: (setting: Setting) => Promise<unknown>,
  code: TurnkeepErrorCode,
  details: TurnkeepErrorDetails,
])[] = [
  [
    "a set that meets what others wrote",
    async ({ store, memory }) => {
      await memory.messages();
      await createChatMemory({ id: "m", store }).add(user("3"));
      await memory.set([user("4")]);
    },
    "VERSION_CONFLICT",
    { memoryId: "m", call: "set" },
  ],
  [
    "a call after close",
    async ({ memory }) => {
      await memory.close();
      await memory.messages();
    },
    "CLOSED",
    { memoryId: "m", call: "messages" },
  ],
  [
    "an add under an id with other content",
    ({ memory }) => memory.add(entry(user("other"), { id: "b" })),
    "ID_CONFLICT",
    { memoryId: "m", call: "add", messageIds: ["b"] },
  ],
  [
    "a put under the id of a superseded message",
    async ({ memory }) => {
      await memory.rewind("b");
      await memory.put("b", user("other"));
    },
    "ID_CONFLICT",
    { memoryId: "m", call: "put", messageIds: ["b"] },
  ],
  [
    "a put that makes another role of a system message",
    ({ memory }) => memory.put("s", user("other")),
    "INVALID_MESSAGE",
    { memoryId: "m", call: "put", messageIds: ["s"] },
  ],
  [
    "a compact of what is covered further",
    async ({ memory }) => {
      await memory.compact({ through: "b", replacement: assistant("2") });
      await memory.compact({ through: "a", replacement: assistant("1") });
    },
    "VERSION_CONFLICT",
    { memoryId: "m", call: "compact", messageIds: ["a"] },
  ],
  [
    "a rewind to what is not there",
    ({ memory }) => memory.rewind("nobody"),
    "NOT_FOUND",
    { memoryId: "m", call: "rewind", messageIds: ["nobody"] },
  ],
  [
    "a fork of what is not there",
    ({ memories }) => memories.fork("nothing", "fork"),
    "NOT_FOUND",
    { memoryId: "nothing", call: "fork" },
  ],
  [
    "a fork at a message that is not there",
    ({ memories }) => memories.fork("m", "fork", { at: "nobody" }),
    "NOT_FOUND",
    { memoryId: "m", call: "fork", messageIds: ["nobody"] },
  ],
  [
    "a fork to what is there",
    async ({ memories }) => {
      await memories.get("fork").add(user("1"));
      await memories.fork("m", "fork");
    },
    "ID_CONFLICT",
    { memoryId: "fork", call: "fork" },
  ],
  [
    "a view of what does not fit",
    ({ store }) =>
      createChatMemory({
        id: "m",
        store,
        window: { maxTokens: 3, counter: { name: "c", count: () => 2 } },
      }).messages(),
    "WINDOW_OVERFLOW",
    { memoryId: "m", call: "messages", needed: 6, limit: 3 },
  ],
];

test.each(refused)("%s names what it was about", async (_, call, code, details) => {
  const error: unknown = await call(await setUp()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect((error as { details: TurnkeepErrorDetails }).details).toEqual(details);
});

test("an error of a call that waited for others has its caller's frames, and the cause and the frames of its own", async () => {
  const cause = new Error("the driver's");
  const failing: ChatMemoryStore = {
    ...inMemoryStore(),
    getMessages: async () => {
      throw new TurnkeepError("STORE_REFUSED", "no rights", { cause });
    },
  };
  const memory = createChatMemory({ id: "m", store: failing });
  async function theCaller(): Promise<void> {
    memory.messages().catch(() => {});
    await memory.add(user("1"));
  }
  const error: unknown = await theCaller().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "STORE_REFUSED", message: "no rights", cause });
  expect((error as TurnkeepError).stack).toMatch(/^TurnkeepError: no rights\n.*getMessages.*theCaller/s);
});

test("what a call of another memory threw inside a transaction is passed on as it is", async () => {
  const { memory, store } = await setUp();
  const other = createChatMemory({ id: "other", store });
  const thrown: unknown[] = [];
  const run = () =>
    other.rewind("nobody").catch((error: unknown) => {
      thrown.push(error);
      throw error;
    });
  await expect(memory.transaction(run)).rejects.toMatchObject({
    details: { memoryId: "other", call: "rewind" },
  });
  const again: unknown = await memory.transaction(run).catch((error: unknown) => error);
  expect(again).toBe(thrown[1]);
});

const codes: Record<TurnkeepErrorCode, true> = {
  INVALID_OPTION: true,
  INVALID_MESSAGE: true,
  NOT_FOUND: true,
  ID_CONFLICT: true,
  BUSY: true,
  TURN_LOST: true,
  OWNER_MISMATCH: true,
  WINDOW_OVERFLOW: true,
  MESSAGE_TOO_LARGE: true,
  MEMORY_FULL: true,
  VERSION_CONFLICT: true,
  CORRUPT_RECORD: true,
  UNSUPPORTED_VERSION: true,
  STORE_NOT_READY: true,
  STORE_REFUSED: true,
  STORE_UNAVAILABLE: true,
  UNSUPPORTED: true,
  ABORTED: true,
  CLOSED: true,
};

test.each(["docs/errors.md", "packages/core/src/errors.ts"])("%s has a row for each code", (path) => {
  const [text = ""] = readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8").split("\n## ");
  const rows = [...text.matchAll(/^(?: \* )?\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  expect(rows).toEqual(Object.keys(codes));
});

test("what a memory or a message is too large for was certainly not written", () => {
  for (const code of ["MEMORY_FULL", "MESSAGE_TOO_LARGE"] as const) {
    expect(isOpenOutcome(new TurnkeepError(code, "too large"))).toBe(false);
  }
});

test("an error comes as it is where the application has stacks written as something else than text", async () => {
  const { prepareStackTrace } = Error;
  onTestFinished(() => void Object.assign(Error, { prepareStackTrace }));
  Error.prepareStackTrace = (_error, frames) => frames;
  const error = await createChatMemory({ id: "m", store: inMemoryStore() })
    .anchor()
    .catch((met) => met);
  expect(error.code).toBe("NOT_FOUND");
});

test("an error that a store answers many calls with names each caller's own memory and call", async () => {
  const refused = new TurnkeepError("STORE_REFUSED", "wrong password", { cause: new Error("28P01") });
  const connection = Promise.reject(refused);
  connection.catch(() => {});
  const memories = createChatMemories({ store: { ...inMemoryStore(), getMessages: () => connection } });
  const calls = [memories.get("a").messages(), memories.get("b").add(user("1")), memories.get("a").anchor()];
  const errors = (await Promise.allSettled(calls)).map((call) => call.status === "rejected" && call.reason);
  const details = [
    { memoryId: "a", call: "messages" },
    { memoryId: "b", call: "add" },
    { memoryId: "a", call: "anchor" },
  ];
  for (const [index, error] of errors.entries()) {
    expect(error).toMatchObject({ code: "STORE_REFUSED", message: "wrong password", cause: refused.cause });
    expect(error.details).toEqual(details[index]);
  }
});
