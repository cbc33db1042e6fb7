import { type ChatMemoryStore, isTurnkeepError, type StoreCapabilities } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { callsOf, failure, said } from "./calls.ts";

/** A function that makes stores of options, as these tests see it. */
export interface StoreFactory {
  /** `options` may be anything. */
  create(options: unknown): ChatMemoryStore & { migrate?(): Promise<void> };
  /** An address where nobody listens. It holds the password `s3cret`. */
  readonly url: string;
  /** What passes for a client. */
  readonly client: object;
  /** What passes for a configuration. */
  readonly config: object;
  /** Addresses that only the driver finds out to be unreadable, with the same password. */
  readonly unreadable?: readonly string[];
  /** What must be refused, with what is wrong, beside what no store takes. */
  readonly refused: readonly (readonly [fault: string, options: object])[];
  /** Places in a listing as another store may have them, in no form of this one. */
  readonly foreignPlaces?: readonly string[];
  /** What may be left out beside `prefix`, `ttlMs` and `activityMs`. */
  readonly optional: readonly string[];
  readonly capabilities: Pick<StoreCapabilities, "readSteps" | "maxMessageBytes">;
}

/** Tests of what every store does with its options. None needs a server. */
export function describeOptions(factory: StoreFactory): void {
  const {
    create,
    url,
    client,
    config,
    unreadable = [],
    foreignPlaces = [],
    refused,
    optional,
    capabilities,
  } = factory;

  describe("the factory", () => {
    test.each<readonly [string, unknown]>([
      ["nothing", undefined],
      ["null", null],
      ["no place", {}],
      ["a url in place of options", url],
      ["a client that is a url", { client: url }],
      ["a place that is undefined", { client: undefined, url: undefined, config: undefined }],
      ["a client and a url", { client, url }],
      ["a url and a config", { url, config }],
      ["an empty url", { url: "" }],
      ["a url of another database", { url: "mysql://app:s3cret@127.0.0.1/chat" }],
      ["a url without a scheme", { url: "app:s3cret@127.0.0.1" }],
      ["a url that is an object", { url: new URL(url) }],
      ["a client without the driver's methods", { client: { other() {} } }],
      ["a config that is a text", { config: url }],
      ["a prefix that is a number", { url, prefix: 7 }],
      ["a prefix with U+0000", { url, prefix: "a\0b" }],
      ["a prefix with a lone surrogate", { url, prefix: "a\ud800" }],
      ["a ttl of 0", { url, ttlMs: 0 }],
      ["a ttl of half a millisecond", { url, ttlMs: 0.5 }],
      ["an activityMs of 0", { url, activityMs: 0 }],
      ["an option that there is not", { url, ttl: 60 }],
      ...refused,
    ])("refuses %s", async (_, options) => {
      const error = await failure(async () => create(options));
      expect(isTurnkeepError(error, "INVALID_OPTION"), said(error)).toBe(true);
      expect(said(error)).not.toContain("s3cret");
    });

    test("does no I/O: a server that is not there is no error before the first call", async () => {
      const store = create({ url });
      await store.close();
      await store.close();
      for (const call of callsOf(store)) await expect(call()).rejects.toMatchObject({ code: "CLOSED" });
      if (store.migrate !== undefined) {
        await expect(store.migrate()).rejects.toMatchObject({ code: "CLOSED" });
      }
    });

    test("a cursor that is none of this store's is refused before anything is sent", async () => {
      const store = create({ url });
      for (const cursor of [
        "%",
        "A",
        ...foreignPlaces.map((place) => Buffer.from(place).toString("base64url")),
      ]) {
        const error = await failure(() => store.listMemories({ cursor }));
        expect(isTurnkeepError(error, "INVALID_OPTION"), `${cursor}: ${said(error)}`).toBe(true);
      }
      await store.close();
    });

    test("admits undefined where an option may be left out", () => {
      const names = ["client", "config", "prefix", "ttlMs", "activityMs", ...optional];
      const rest = Object.fromEntries(names.map((name) => [name, undefined]));
      const everything = {
        ...{ durable: true, shared: true, history: true, list: true, newest: true },
        ...{ ttl: true, delta: true },
      };
      expect(create({ url, ...rest }).capabilities).toEqual({ ...everything, ...capabilities });
    });

    test.each(unreadable)(
      "an address that the driver cannot read fails at the first call (%#)",
      async (bad) => {
        const store = create({ url: bad });
        const error = await failure(() => store.getMessages("a"));
        expect(isTurnkeepError(error, "INVALID_OPTION"), said(error)).toBe(true);
        expect(said(error)).not.toContain("s3cret");
        await store.close();
      },
    );
  });
}
