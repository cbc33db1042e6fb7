import { describe, expect, it, test, vi } from "vitest";
import {
  driverCalls,
  importError,
  integer,
  nameText,
  optional,
  ownClient,
  parseUrl,
  takeStoreOptions,
  ttl,
} from "../src/store-kit.ts";

const rules = {
  factory: "myStore",
  client: { method: "send", is: "a Wire" },
  schemes: ["wire://", "wires://"],
  config: "new Wire(config)",
  options: { prefix: optional(nameText(), "chat_"), ttlMs: optional(ttl) },
};

function check(options: unknown): unknown {
  return takeStoreOptions(options as object, rules);
}

describe("takeStoreOptions", () => {
  test("answers the store's own options with their defaults, apart from the connection", () => {
    const config = {};
    expect(takeStoreOptions({ config, url: undefined, ttlMs: 5 }, rules)).toEqual({
      connection: { client: undefined, url: undefined, config },
      prefix: "chat_",
      ttlMs: 5,
    });
    expect(check({ url: "wire://h", prefix: "", ttlMs: undefined })).toMatchObject({
      prefix: "",
      ttlMs: undefined,
    });
  });

  test("keeps nothing of the object that it was given", () => {
    const options = { url: "wire://host", prefix: "a" };
    const taken = check(options);
    options.url = "elsewhere";
    expect(taken).toMatchObject({ connection: { url: "wire://host" } });
  });

  test("checks the store's own options by their table", () => {
    expect(() => check({ url: "wire://h", prefix: 5 })).toThrow("prefix must be a string, not 5");
    const missing = { ...rules, options: { shards: integer(1) } };
    expect(() => takeStoreOptions({ url: "wire://h" }, missing)).toThrow(
      "shards must be a positive integer; it is undefined.",
    );
  });

  test("takes another kind of client where the rules know one", () => {
    const other = { write(): void {} };
    const client = { ...rules.client, isOther: (given: unknown) => given === other };
    expect(() => takeStoreOptions({ client: other }, { ...rules, client })).not.toThrow();
    expect(() => takeStoreOptions({ client: {} }, { ...rules, client })).toThrow("with a send method");
    expect(() => check({ client: other })).toThrow("with a send method");
  });

  test.each([
    { client: { send() {} } },
    { client: Object.create({ send() {} }) },
    { url: "wire://host" },
    { url: "WIRES://host", client: undefined, config: undefined },
    { config: {} },
  ])("takes %o", (options) => {
    expect(() => check(options)).not.toThrow();
  });

  test.each([
    [undefined, "myStore takes an object with client, url or config, not undefined"],
    [null, "myStore takes an object with client, url or config, not null"],
    [{}, "myStore takes one of client, url and config, but was given none of them"],
    [{ url: undefined }, "but was given none of them: url is undefined. Is its variable set?"],
    [{ url: "wire://h", config: {} }, "but was given url and config"],
    [
      { conectionString: "wire://h" },
      'myStore takes client, url, config, prefix, ttlMs; it was given "conectionString".',
    ],
    [{ url: "wire://h", ttl: 60, ttlMs: undefined }, 'it was given "ttl".'],
    [{ client: {} }, "client must be a Wire, with a send method, not "],
    [{ client: null }, "client must be a Wire, with a send method, not null"],
    [{ url: "" }, "url must be an address that begins with wire:// or wires://"],
    [{ url: "wire://" }, "url must be an address"],
    [{ url: 7 }, "url must be an address"],
    [{ config: "wire://h" }, "config must be an object, as new Wire(config) takes it, not a string"],
    [{ config: null }, "config must be an object"],
  ])("refuses %o", (options, why) => {
    expect(() => check(options)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(why) }),
    );
  });

  describe("of a store that also takes a path", () => {
    const withPath = (options: object) => () => takeStoreOptions(options, { ...rules, path: "folder" });

    test.each([
      { folder: "./data" },
      { folder: "/data", url: undefined },
      { url: "wire://host", folder: undefined },
    ])("takes %o", (options) => {
      expect(withPath(options)).not.toThrow();
    });

    test.each([
      [{}, "myStore takes one of client, url, config and folder, but was given none of them"],
      [{ folder: undefined }, "none of them: folder is undefined. Is its variable set?"],
      [{ folder: "data", url: "wire://h" }, "but was given url and folder"],
      [{ folder: "" }, 'folder must be a path on this machine; it is "".'],
      [{ folder: "a\0b" }, "folder must be a path on this machine"],
      [{ folder: 7 }, "folder must be a path on this machine; it is 7."],
      [{ folder: "wire://me:hidden@host" }, "it is an address (not shown)."],
      [
        { folder: "data", other: 1 },
        'takes client, url, config, folder, prefix, ttlMs; it was given "other".',
      ],
    ])("refuses %o", (options, why) => {
      expect(withPath(options)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(why) }),
      );
    });
  });

  const address = "http://me:hidden@host";
  it.each([{ url: address }, { config: address }, { client: address }, { uri: address }, address])(
    "quotes no address, wherever it was given: it may hold a password (%#)",
    (options) => {
      expect(() => check(options as object)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", message: expect.not.stringContaining("hidden") }),
      );
    },
  );
});

describe("driverCalls", () => {
  it("names the store in what its driver throws", async () => {
    const calls = driverCalls("myStore");
    const cause = new Error("cut");
    await expect(calls.run(() => Promise.reject(cause), undefined)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("myStore"),
      cause,
    });
  });

  it("has settled when the last call has ended, well or not", async () => {
    const calls = driverCalls("myStore");
    const ended: string[] = [];
    const [one, two] = [deferred(), deferred()];
    const first = calls.run(() => one.promise, undefined);
    const second = calls.run(() => two.promise, undefined);
    const settled = calls.settled().then(() => ended.push("settled"));
    two.reject(new Error("cut"));
    await expect(second).rejects.toThrow();
    ended.push("second");
    one.resolve();
    await first;
    ended.push("first");
    await settled;
    expect(ended).toEqual(["second", "first", "settled"]);
    await calls.settled();
  });

  it("has settled when a method of several calls has made its last", async () => {
    const calls = driverCalls("myStore");
    const [one, two] = [deferred(), deferred()];
    const ended: string[] = [];
    const inside = async (call: Promise<unknown>): Promise<unknown> => call;
    async function method(): Promise<void> {
      await inside(inside(inside(calls.run(() => one.promise, undefined))));
      await calls.run(() => two.promise, undefined);
      ended.push("method");
    }
    const running = method();
    const settled = calls.settled().then(() => ended.push("settled"));
    one.resolve();
    // Long enough for who waits but once.
    await new Promise((resolve) => setTimeout(resolve, 20));
    two.resolve();
    await Promise.all([running, settled]);
    expect(ended).toEqual(["method", "settled"]);
  });

  it("closes after the last call, and tells what closing threw as a call's error", async () => {
    const calls = driverCalls("myStore");
    const one = deferred();
    const ended: string[] = [];
    const call = calls.run(() => one.promise, undefined).then(() => ended.push("call"));
    const closed = calls.closeAfter(() => ended.push("closed"));
    one.resolve();
    await Promise.all([call, closed]);
    expect(ended).toEqual(["call", "closed"]);
    const cause = new Error("cut");
    await expect(calls.closeAfter(() => Promise.reject(cause))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      cause,
    });
  });

  it("does not wait for what an abort has left behind", async () => {
    const calls = driverCalls("myStore");
    const controller = new AbortController();
    const call = calls.run(() => new Promise<never>(() => {}), controller.signal);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await calls.settled();
  });
});

describe("parseUrl", () => {
  it("answers user and password as they are meant", () => {
    const { url, username, password } = parseUrl("redis://a%40b:s%3Acret@host:6379/0");
    expect([url.host, username, password]).toEqual(["host:6379", "a@b", "s:cret"]);
    expect(parseUrl("redis://host")).toMatchObject({ username: "", password: "" });
  });

  it.each([
    "no address",
    "redis://app:s3cret@host:port",
    "redis://app:s3cret%zz@host",
    "redis://%:s3cret@host",
  ])("refuses %s without quoting it", (address) => {
    expect(() => parseUrl(address)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(() => parseUrl(address)).not.toThrow("s3cret");
  });
});

describe("importError", () => {
  it.each(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"])(
    "names the driver that is not installed: %s",
    (code) => {
      const missing = Object.assign(new Error("no such package"), { code });
      expect(importError("wire", missing)).toMatchObject({
        code: "INVALID_OPTION",
        message: expect.stringContaining('"wire"'),
      });
    },
  );

  it("leaves other faults as they are", () => {
    const broken = new SyntaxError("its code is broken");
    expect(importError("wire", broken)).toBe(broken);
  });
});

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

function deferred(): Deferred {
  let settle: Omit<Deferred, "promise"> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as Omit<Deferred, "promise">) };
}

describe("ownClient", () => {
  it("opens at the first use, once for all, and closes what it opened", async () => {
    const open = vi.fn(async () => ({}));
    const close = vi.fn();
    const own = ownClient(open, close);
    await own.close();
    expect(open).not.toHaveBeenCalled();
    expect(close).not.toHaveBeenCalled();
    const [one, other] = await Promise.all([own.get(), own.get()]);
    expect(other).toBe(one);
    expect(open).toHaveBeenCalledOnce();
    await own.close();
    expect(close.mock.calls).toEqual([[one]]);
  });

  it("tries again where opening failed, and has nothing to close then", async () => {
    const open = vi.fn(async () => ({})).mockRejectedValueOnce(new Error("unreachable"));
    const close = vi.fn();
    const own = ownClient(open, close);
    const failing = own.get();
    await own.close();
    await expect(failing).rejects.toThrow("unreachable");
    expect(close).not.toHaveBeenCalled();
    await own.get();
    expect(open).toHaveBeenCalledTimes(2);
  });

  it("opens another after it forgot one", async () => {
    const clients = [{}, {}];
    const close = vi.fn();
    const own = ownClient(async () => clients.shift(), close);
    const [first, second] = [...clients];
    expect(await own.get()).toBe(first);
    own.forget();
    expect(await own.get()).toBe(second);
    await own.close();
    expect(close.mock.calls).toEqual([[second]]);
  });
});
