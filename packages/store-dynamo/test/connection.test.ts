import dns from "node:dns";
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type DynamoServer, startDynamo } from "@turnkeep/servers";
import { message, messages, said, update } from "@turnkeep/store-tests";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { type DynamoStore, type DynamoStoreOptions, dynamoStore } from "../src/index.ts";
import { type LossyProxy, startLossyProxy } from "./lossy-proxy.ts";
import { canceled, configOf, fault, type Sent, silence, useOwnTable, wrapped } from "./support.ts";

const url = inject("dynamoUrl");
const { tableName, client } = useOwnTable();

async function failure(call: () => Promise<unknown>): Promise<Error> {
  return call().then(
    () => {
      throw new Error("The call succeeded");
    },
    (error: Error) => error,
  );
}

/** A store whose client answers so many commands of an operation with an error, before or after they took place. */
function faulty(
  operation: string,
  error: Error,
  options: { times?: number; after?: boolean } = {},
): DynamoStore & { sent: Sent[] } {
  let left = options.times ?? 1;
  const sent: Sent[] = [];
  const store = dynamoStore({
    tableName,
    client: wrapped(client, async (command, send) => {
      sent.push(command);
      if (command.operation !== operation || left-- <= 0) return send();
      if (options.after) await send();
      throw error;
    }),
  });
  return Object.assign(store, { sent });
}

describe("a client that was given", () => {
  test("stays open when the store closes", async () => {
    const store = dynamoStore({ client, tableName });
    await store.getMessages("a");
    await store.close();
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "CLOSED" });
    expect((await dynamoStore({ client, tableName }).getMessages("a")).version).toBeNull();
  });
});

describe("a client that the store opened", () => {
  test("is made of a config as the driver takes it, or of a url with credentials", async () => {
    const places: DynamoStoreOptions[] = [
      { config: configOf(url), tableName },
      { url, tableName },
    ];
    for (const place of places) {
      const store = dynamoStore(place);
      expect((await store.getMessages("a")).version).toBeNull();
      await store.close();
    }
  });

  test("is one for all calls, and its connections end when the store closes", async () => {
    const { hostname, port } = new URL(url);
    const sockets: Socket[] = [];
    const between = createServer((socket) => {
      sockets.push(socket);
      const onward = createConnection(Number(port), hostname);
      for (const end of [socket, onward]) end.on("error", () => {});
      socket.pipe(onward);
      // The server would end a connection that nobody uses.
      onward.pipe(socket, { end: false });
    });
    await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void between.close());
    const address = `http://local:local@127.0.0.1:${(between.address() as AddressInfo).port}`;
    const store = dynamoStore({ url: address, tableName });
    for (let times = 0; times < 3; times++) await store.getMessages("a");
    expect(sockets).toHaveLength(1);
    const ended = new Promise((resolve) => sockets[0]?.on("close", resolve));
    await store.close();
    await ended;
  });

  test("a signal that has fired stops a call before anything is sent", async () => {
    const store = dynamoStore({ url: "http://a:b@127.0.0.1:1" });
    const options = { signal: AbortSignal.abort() };
    const calls = [
      () => store.migrate(options),
      () => store.getMessages("a", options),
      () => store.updateMessages("a", update(null, 1), options),
      () => store.deleteMessages("a", options),
      () => store.getHistory("a", {}, options),
      () => store.listMemories({}, options),
      () => store.sweep(options),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ABORTED" });
    await store.close();
  });

  test("without a region is INVALID_OPTION that names it", async () => {
    for (const name of ["AWS_REGION", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) {
      vi.stubEnv(name, name === "AWS_REGION" ? undefined : "/nowhere");
    }
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const place of [{ config: {} }, { url: "http://127.0.0.1:1" }]) {
      const store = dynamoStore(place);
      await expect(store.getMessages("a")).rejects.toMatchObject({
        code: "INVALID_OPTION",
        message: expect.stringContaining("AWS_REGION"),
      });
      await store.close();
    }
  });

  test("a server that is not there is STORE_UNAVAILABLE, says why, and tells no secret", async () => {
    const store = dynamoStore({ url: "http://app:s3cret@127.0.0.1:1" });
    const append = update(null, 2, { append: [message(1, '"private words"')] });
    for (const call of [() => store.getMessages("a"), () => store.updateMessages("a", append)]) {
      const error = await failure(call);
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "ECONNREFUSED" } });
      expect(said(error)).not.toMatch(/s3cret|private words/);
    }
    await store.close();
  });
});

describe("a server that accepts and never answers", () => {
  let server: Server;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer((socket) => sockets.add(socket.on("error", () => {}).resume()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  test("a large update with a signal brings no warning of Node's about listeners", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on("warning", warned);
    const { signal } = new AbortController();
    const begin = update(null, 401, { append: messages(1, 400) });
    await dynamoStore({ client, tableName }).updateMessages("listeners", begin, { signal });
    await new Promise(setImmediate);
    process.off("warning", warned);
    expect(warnings.filter(({ name }) => name === "MaxListenersExceededWarning")).toEqual([]);
  });

  test("ends by a signal that is not Node's own", async () => {
    const listeners = new Set<() => void>();
    const signal = {
      aborted: false,
      reason: new Error("enough"),
      addEventListener: (_: string, listener: () => void) => listeners.add(listener),
      removeEventListener: (_: string, listener: () => void) => listeners.delete(listener),
    };
    const store = dynamoStore({ url: `http://a:b@127.0.0.1:${(server.address() as AddressInfo).port}` });
    const connected = once(server, "connection");
    const call = store.getMessages("a", { signal: signal as unknown as AbortSignal });
    await connected;
    signal.aborted = true;
    for (const listener of listeners) listener();
    await expect(call).rejects.toMatchObject({ code: "ABORTED", cause: signal.reason });
    await store.close();
  });

  test("ends by the caller's signal, which reaches the driver", async () => {
    const store = dynamoStore({ url: `http://a:b@127.0.0.1:${(server.address() as AddressInfo).port}` });
    const controller = new AbortController();
    const connected = once(server, "connection");
    const call = store.getMessages("a", { signal: controller.signal });
    const [socket] = (await connected) as [Socket];
    const ended = once(socket, "close");
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await ended;
    await store.close();
  });
});

describe("connections that have died without a word", () => {
  /** A store of its own client, with five connections, none of which answers any more. */
  async function halfOpen(): Promise<{ proxy: LossyProxy; store: DynamoStore }> {
    const proxy = await startLossyProxy(url);
    const store = dynamoStore({ url: proxy.url, tableName });
    await Promise.all(Array.from({ length: 5 }, () => store.getMessages("half-open")));
    proxy.freeze();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(async () => {
      vi.useRealTimers();
      await store.close();
    });
    return { proxy, store };
  }

  async function arrived({ requests }: LossyProxy, count: number): Promise<void> {
    while (requests.length < count) await new Promise((resolve) => setImmediate(resolve));
  }

  test("cost one read fifteen seconds, and no other call anything", async () => {
    const { proxy, store } = await halfOpen();
    const read = store.getMessages("half-open");
    await arrived(proxy, 6);
    await vi.advanceTimersByTimeAsync(15_000);
    vi.useRealTimers();
    expect((await read).version).toBeNull();
    await Promise.all(Array.from({ length: 5 }, () => store.getMessages("half-open")));
    expect(proxy.requests).toHaveLength(5 + 1 + 1 + 5);
  });

  test("cost one write fifteen seconds, which is open, and no other call anything", async () => {
    const begin = update(null, 2, { append: [message(1)] });
    await dynamoStore({ client, tableName }).updateMessages("half-open write", begin);
    const proxy = await startLossyProxy(url);
    const store = dynamoStore({ url: proxy.url, tableName });
    await Promise.all(Array.from({ length: 5 }, () => store.getMessages("half-open write")));
    proxy.freeze();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const next = update(begin.version, 3, { append: [message(2)] });
    const write = failure(() => store.updateMessages("half-open write", next));
    await arrived(proxy, 6);
    await vi.advanceTimersByTimeAsync(15_000);
    vi.useRealTimers();
    expect(await write).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("is open"),
    });
    await store.updateMessages("half-open write", next);
    expect((await store.getMessages("half-open write")).messages).toEqual(messages(1, 2));
    await store.close();
  });

  test("are given up by a client that was given, with the limits that the README shows", async () => {
    const proxy = await startLossyProxy(url);
    const requestHandler = { connectionTimeout: 2_000, requestTimeout: 2_000, throwOnRequestTimeout: true };
    const given = new DynamoDBClient({ ...configOf(proxy.url), requestHandler, maxAttempts: 5 });
    onTestFinished(() => given.destroy());
    const store = dynamoStore({ client: given, tableName });
    await Promise.all([1, 2].map(() => store.getMessages("half-open")));
    proxy.freeze();
    expect((await store.getMessages("half-open")).version).toBeNull();
  });

  test("cost only the call that its caller's signal has ended after a while", async () => {
    const { proxy, store } = await halfOpen();
    const now = performance.now();
    const controller = new AbortController();
    const read = store.getMessages("half-open", { signal: controller.signal });
    await arrived(proxy, 6);
    vi.spyOn(performance, "now").mockReturnValue(now + 6_000);
    onTestFinished(() => void vi.restoreAllMocks());
    controller.abort();
    await expect(read).rejects.toMatchObject({ code: "ABORTED" });
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(Array.from({ length: 5 }, () => store.getMessages("half-open")));
  });
});

describe("throttling", () => {
  test.each([
    ["TransactWriteItems", fault("ProvisionedThroughputExceededException")],
    ["TransactWriteItems", fault("ThrottlingException")],
    ["TransactWriteItems", fault("RequestLimitExceeded")],
    ["TransactWriteItems", fault("TransactionInProgressException")],
    ["TransactWriteItems", canceled("None", "ThrottlingError", "None")],
    ["TransactWriteItems", canceled("ProvisionedThroughputExceeded", "TransactionConflict")],
    ["Query", fault("ProvisionedThroughputExceededException")],
  ])("of %s by %o is waited out", async (operation, error) => {
    const memoryId = `throttled ${operation} ${said(error).slice(0, 200)}`;
    const store = faulty(operation, error, { times: 3 });
    const append = [message(1, `"${"x".repeat(4_000)}"`), message(2)];
    await store.updateMessages(memoryId, update(null, 3, { append }));
    expect((await store.getMessages(memoryId)).messages).toEqual(append);
    expect(store.sent.filter((command) => command.operation === operation)).toHaveLength(4);
    const tokens = store.sent.flatMap(({ input }) => input.ClientRequestToken ?? []);
    expect(new Set(tokens).size).toBe(1);
    await store.deleteMessages(memoryId);
  });

  test("without end is STORE_UNAVAILABLE with the driver's error, says that nothing was written, and nothing was", async () => {
    const store = faulty("TransactWriteItems", canceled("ThrottlingError"), {
      times: Number.POSITIVE_INFINITY,
    });
    const error = await failure(() =>
      store.updateMessages("endless", update(null, 2, { append: [message(1)] })),
    );
    expect(error).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(/TransactWriteItems .*\(ThrottlingError; .*has not done it/),
      cause: { name: "TransactionCanceledException" },
    });
    expect(said(error)).not.toContain("private words");
    expect(store.sent).toHaveLength(10);
    expect((await store.getMessages("endless")).version).toBeNull();
  });

  test("of a part of a batch without end is STORE_UNAVAILABLE, too", async () => {
    let asked = 0;
    const store = dynamoStore({
      tableName,
      client: wrapped(client, ({ operation, input }, send) => {
        if (operation !== "BatchWriteItem") return send();
        asked++;
        return Promise.resolve({ UnprocessedItems: input.RequestItems });
      }),
    });
    const begin = update(null, 2, { append: [message(1, `"${"x".repeat(4_000)}"`)] });
    await expect(store.updateMessages("put off", begin)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      cause: { code: "ThrottlingException" },
    });
    expect(asked).toBe(10);
    expect((await store.getMessages("put off")).version).toBeNull();
  });

  test.each(["AccessDenied", "ValidationError", "ItemCollectionSizeLimitExceeded"])(
    "is not what a transaction was refused for by %s, which is STORE_REFUSED at once and says so",
    async (reason) => {
      const store = faulty("TransactWriteItems", canceled("None", reason, "None"), { times: 1 });
      const begin = update(null, 2, { append: [message(1)] });
      await expect(store.updateMessages(reason, begin)).rejects.toMatchObject({
        code: "STORE_REFUSED",
        cause: { code: reason },
      });
      expect(store.sent).toHaveLength(1);
      expect((await store.getMessages(reason)).version).toBeNull();
    },
  );

  test("ends with the caller's signal", async () => {
    const controller = new AbortController();
    const store = faulty("GetItem", fault("ThrottlingException"), { times: Number.POSITIVE_INFINITY });
    const call = store.getMessages("a", { signal: controller.signal });
    while (store.sent.length < 2) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("of a part of a batch sends the rest again", async () => {
    let [puts, gets] = [0, 0];
    const store = dynamoStore({
      tableName,
      client: wrapped(client, async ({ operation, input }, send) => {
        const requests = (input.RequestItems as Record<string, unknown>)?.[tableName];
        if (operation === "BatchWriteItem" && Array.isArray(requests) && requests.length > 1) {
          puts++;
          const left = requests.splice(1);
          return { ...((await send()) as object), UnprocessedItems: { [tableName]: left } };
        }
        const keys = (requests as { Keys?: unknown[] } | undefined)?.Keys;
        if (operation === "BatchGetItem" && keys !== undefined && keys.length > 1) {
          gets++;
          const left = keys.splice(1);
          return {
            ...((await send()) as object),
            UnprocessedKeys: { [tableName]: { Keys: left, ConsistentRead: true } },
          };
        }
        return send();
      }),
    });
    const append = [1, 3, 5].map((seq) => message(seq));
    const begin = update(null, 10, { append: [...append, message(7, `"${"x".repeat(500_000)}"`)] });
    await store.updateMessages("partly", begin);
    expect(puts).toBeGreaterThan(0);
    expect((await store.getMessages("partly")).messages).toEqual(begin.append);
    for (const memoryId of ["listed 1", "listed 2", "listed 3"]) {
      await store.updateMessages(memoryId, update(null, 1, { owner: "partly" }));
    }
    expect((await store.listMemories({ owner: "partly" })).memories).toHaveLength(3);
    expect(gets).toBe(2);
  });
});

test.each<[code: string, says: RegExp, Error]>([
  ["STORE_UNAVAILABLE", /is open/, fault("InternalServerError", {}, 500)],
  ["STORE_UNAVAILABLE", /is open/, fault("ServiceUnavailable", {}, 503)],
  ["STORE_UNAVAILABLE", /has not done it: repeat/, fault("LimitExceededException")],
  ["STORE_UNAVAILABLE", /has not done it: repeat/, fault("ReplicatedWriteConflictException")],
  ["STORE_UNAVAILABLE", /has not done it: repeat/, fault("IdempotentParameterMismatchException")],
  ["STORE_REFUSED", /may not \w+ on the table/, fault("AccessDeniedException")],
  ["STORE_REFUSED", /other credentials/, fault("ExpiredTokenException")],
  ["STORE_REFUSED", /other credentials/, fault("UnrecognizedClientException")],
  ["STORE_REFUSED", /other credentials/, fault("InvalidSignatureException")],
  ["STORE_REFUSED", /other credentials/, fault("CredentialsProviderError", { $metadata: undefined })],
  ["STORE_REFUSED", /does not take \w+ on the table/, fault("ValidationException")],
  ["STORE_REFUSED", /does not take/, fault("ItemCollectionSizeLimitExceededException")],
])("%s %s for %o, whatever was asked, and it is not sent again", async (code, says, error) => {
  const { name } = error;
  const begin = update(null, 3, { append: messages(1, 2) });
  await dynamoStore({ client, tableName }).updateMessages(`refused ${name}`, begin);
  for (const [operation, call] of [
    ["GetItem", (store: DynamoStore) => store.getMessages(`refused ${name}`)],
    ["PutItem", (store: DynamoStore) => store.updateMessages(`refused ${name}`, update(begin.version, 3))],
    ["TransactWriteItems", (store: DynamoStore) => store.deleteMessages(`refused ${name}`)],
    ["Query", (store: DynamoStore) => store.listMemories({ owner: "nobody" })],
  ] as const) {
    const store = faulty(operation, error);
    const refused = await failure(() => call(store));
    expect(refused).toMatchObject({ code, cause: { code: name }, message: expect.stringMatching(says) });
    if (String(says) !== String(/is open/)) expect(refused.message).not.toContain("is open");
    expect(store.sent.filter((sent) => sent.operation === operation)).toHaveLength(1);
  }
});

test("a host that does not exist is STORE_REFUSED, and not called open", async () => {
  // As every resolver says it that can be reached.
  vi.spyOn(dns, "lookup").mockImplementation(((host: string, _: object, done: (error: Error) => void) => {
    done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" }));
  }) as never);
  onTestFinished(() => void vi.restoreAllMocks());
  const store = dynamoStore({ url: "http://app:s3cret@turnkeep.invalid:8000" });
  for (const call of [() => store.getMessages("a"), () => store.updateMessages("a", update(null, 1))]) {
    const error = await failure(call);
    expect(error).toMatchObject({ code: "STORE_REFUSED", cause: { code: "ENOTFOUND" } });
    expect(error.message).toMatch(/host .* does not exist/);
    expect(said(error)).not.toContain("s3cret");
  }
  await store.close();
});

describe("a conflict with another transaction", () => {
  test.each([
    [
      "of a transaction",
      "TransactWriteItems",
      canceled("TransactionConflict", "None"),
      { append: [message(3, `"${"x".repeat(4_000)}"`)] },
    ],
    ["of one item", "PutItem", fault("TransactionConflictException"), { head: "2" }],
  ])(
    "%s is VERSION_CONFLICT, or success where the update is in place",
    async (_, operation, error, change) => {
      for (const after of [false, true]) {
        const memoryId = `conflict ${operation} ${after}`;
        const begin = update(null, 3, { append: messages(1, 2) });
        await dynamoStore({ client, tableName }).updateMessages(memoryId, begin);
        const store = faulty(operation, error, { after });
        const next = update(begin.version, 4, change);
        const call = store.updateMessages(memoryId, next);
        if (after) await call;
        else await expect(call).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
        expect((await store.getMessages(memoryId)).version).toBe(after ? next.version : begin.version);
      }
    },
  );

  test("is VERSION_CONFLICT when other rows than were read are met again and again", async () => {
    const refusal = canceled("None", "ConditionalCheckFailed");
    const append = [1, 2].map((seq) => message(seq, `"${"x".repeat(3_000)}"`));
    const begin = update(null, 3, { append });
    await dynamoStore({ client, tableName }).updateMessages("other rows", begin);
    const store = faulty("TransactWriteItems", refusal, { times: Number.POSITIVE_INFINITY });
    const change = update(begin.version, 3, { move: [{ seq: 1, to: "removed" }] });
    await expect(store.updateMessages("other rows", change)).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    expect(store.sent.filter(({ operation }) => operation === "TransactWriteItems")).toHaveLength(3);
    expect((await store.getMessages("other rows")).messages).toEqual(append);
  });

  test("is success where the update, planned again and again, is in place by then", async () => {
    const refusal = canceled("None", "ConditionalCheckFailed");
    const store = faulty("TransactWriteItems", refusal, { times: Number.POSITIVE_INFINITY });
    const other = dynamoStore({ client, tableName });
    const begin = update(null, 2, { append: [message(1)] });
    await other.updateMessages("planned again", begin);
    await store.getMessages("planned again");
    const change = update(begin.version, 3, { append: [message(2, `"${"x".repeat(4_000)}"`)] });
    await other.updateMessages("planned again", change);
    await store.updateMessages("planned again", change);
    expect(store.sent.filter(({ operation }) => operation === "TransactWriteItems")).toHaveLength(3);
  });

  test("of a delete is waited out", async () => {
    const store = faulty("TransactWriteItems", canceled("TransactionConflict", "None"), { times: 0 });
    await store.updateMessages("delete", update(null, 2, { append: [message(1)] }));
    const meeting = faulty("TransactWriteItems", canceled("TransactionConflict", "None"), { times: 3 });
    await meeting.deleteMessages("delete");
    expect((await store.getMessages("delete")).version).toBeNull();
  });
});

test("an update that is in place succeeds though the database refuses what is left to do", async () => {
  const append = [message(1, `"${"x".repeat(40_000)}"`), message(2, `"${"x".repeat(3_000)}"`), message(3)];
  const begin = update(null, 4, { append });
  await dynamoStore({ client, tableName }).updateMessages("left to do", begin);
  const store = faulty("BatchWriteItem", fault("InternalServerError", {}, 500), {
    times: Number.POSITIVE_INFINITY,
  });
  // Leaves the parts of a row behind, then what led to a message by its id.
  const replace = update(begin.version, 4, { replace: [message(1, '"new"')] });
  await store.updateMessages("left to do", replace);
  const remove = update(replace.version, 4, { move: [{ seq: 2, to: "removed" }] });
  await store.updateMessages("left to do", remove);
  expect(store.sent.filter(({ operation }) => operation === "BatchWriteItem")).toHaveLength(2);
  expect(await store.getMessages("left to do")).toMatchObject({
    version: remove.version,
    messages: [message(1, '"new"'), message(3)],
  });
  expect((await store.getHistory("left to do", { ids: ["m2"] })).messages).toEqual([]);
});

describe("an answer that is lost", () => {
  test("leaves the update in place, and sending it again changes nothing", async () => {
    const store = faulty("TransactWriteItems", silence(), { after: true });
    const begin = update(null, 2, { append: [message(1)] });
    await expect(store.updateMessages("lost", begin)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.updateMessages("lost", begin);
    expect((await store.getMessages("lost")).messages).toEqual([message(1)]);
  });

  test("then a delete: the same request once more does not bring the memory back", async () => {
    let again: (() => Promise<unknown>) | undefined;
    const store = dynamoStore({
      tableName,
      client: wrapped(client, ({ operation }, send) => {
        if (operation === "TransactWriteItems") again ??= send;
        return send();
      }),
    });
    await store.updateMessages("late", update(null, 2, { append: [message(1)] }));
    await store.deleteMessages("late");
    await again?.();
    expect((await store.getMessages("late")).version).toBeNull();
  });
});

describe("a server of its own", () => {
  let server: DynamoServer;
  beforeAll(async () => {
    server = await startDynamo({ durable: true, sources: ["cache"] });
  });
  afterAll(() => server.stop());

  test("killed and started again, it has lost nothing that was acknowledged", async () => {
    const store = dynamoStore({ url: server.url });
    await store.migrate();
    const begin = update(null, 2, { owner: "o", append: [message(1)] });
    await store.updateMessages("killed", begin);
    // DynamoDB Local answers a transaction, which begins a memory, before it is in its file; not so what follows alone.
    const next = update(begin.version, 3, { append: [message(2)] });
    await store.updateMessages("killed", next);
    await server.restart();
    expect(await store.getMessages("killed")).toMatchObject({
      version: next.version,
      messages: [message(1), message(2)],
    });
    expect((await store.listMemories({ owner: "o" })).memories).toHaveLength(1);
    await store.close();
    // A virtual machine starts twice.
  }, 120_000);
});
