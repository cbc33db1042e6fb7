import { setTimeout as delay } from "node:timers/promises";
import type { RedisCluster } from "@turnkeep/servers";
import { Redis } from "ioredis";
import type { RedisClient } from "../src/index.ts";

interface Master {
  readonly id: string;
  readonly port: number;
  readonly client: Redis;
}

/** In bytes: moving a key stops both of its servers, and one that is stopped for seconds is taken for gone. */
const largestKey = 8 * 1024 * 1024;

/** Moves slots of a cluster from one master to the next, as `redis-cli --cluster reshard` does. */
export class SlotMoves {
  readonly #masters: readonly Master[];
  readonly #owners = new Map<number, Master>();
  /** A key of the newest command of a client that is watched. */
  #newest: string | undefined;
  #ended = false;
  #running: Promise<void> = Promise.resolve();
  /** How many slots and keys have moved. */
  readonly moved = { slots: 0, keys: 0 };

  constructor(masters: readonly Master[]) {
    this.#masters = masters;
  }

  /** The cluster's first three servers must be its masters still. */
  static async of({ nodes }: RedisCluster): Promise<SlotMoves> {
    const masters = nodes.slice(0, 3).map(async ({ url, port }) => {
      const client = new Redis(url);
      client.on("error", () => {});
      return { id: String(await client.cluster("MYID")), port, client };
    });
    return new SlotMoves(await Promise.all(masters));
  }

  /** Sends commands as before, and has {@link start} move the slots of their keys. */
  watched(call: RedisClient["call"]): RedisClient["call"] {
    return (command, args) => {
      // A script's first key stands behind its text or name and the number of its keys.
      this.#newest = String(command.startsWith("eval") ? args[2] : args[0]);
      return call(command, args);
    };
  }

  /** Moves slots until the end, one after the other: whichever the newest command went to. */
  start(): void {
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      if (this.#newest !== undefined) await this.move(this.#newest, () => delay(2));
      // A call that was refused by both servers must find its keys on one of them at last.
      await delay(20);
    }
  }

  /** Moves the slot of a key, a quarter of its keys at a time. `underWay` hears before and after each how many have moved. */
  async move(key: string, underWay: (moved: number) => Promise<unknown>): Promise<void> {
    const slot = Number(await this.#masters[0]?.client.cluster("KEYSLOT", key));
    const from = await this.#owner(slot);
    const to = this.#masters[(this.#masters.indexOf(from) + 1) % this.#masters.length] ?? from;
    const keys = await keysIn(from, slot, 100_000);
    if (await isHeavy(from, keys)) return;
    await to.client.call("CLUSTER", ["SETSLOT", `${slot}`, "IMPORTING", from.id]);
    await from.client.call("CLUSTER", ["SETSLOT", `${slot}`, "MIGRATING", to.id]);
    for (let moved = 0; ; ) {
      await underWay(moved);
      const some = await keysIn(from, slot, Math.ceil(keys.length / 4));
      if (some.length === 0) break;
      await from.client.call("MIGRATE", ["127.0.0.1", to.port, "", 0, 10_000, "KEYS", ...some]);
      moved += some.length;
      this.moved.keys += some.length;
    }
    for (const { client } of [to, from]) await client.call("CLUSTER", ["SETSLOT", `${slot}`, "NODE", to.id]);
    this.#owners.set(slot, to);
    this.moved.slots++;
  }

  /** Each master knows of itself what the others may hear late. */
  async #owner(slot: number): Promise<Master> {
    const known = this.#owners.get(slot);
    if (known !== undefined) return known;
    for (const master of this.#masters) {
      const ranges = await master.client.cluster("SLOTS");
      const range = ranges.find(([first, last]) => first <= slot && slot <= last);
      if (range?.[2]?.[1] === master.port) return master;
    }
    throw new Error(`no master has the slot ${slot}`);
  }

  /** How often servers refused a command so: `TRYAGAIN` if its keys are in two places. */
  async refusals(code: "TRYAGAIN" | "ASK" | "MOVED"): Promise<number> {
    const counted = new RegExp(`errorstat_${code}:count=(\\d+)`);
    const counts = this.#masters.map(async ({ client }) =>
      Number(counted.exec(await client.info("errorstats"))?.[1] ?? 0),
    );
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#running.finally(() => {
      for (const { client } of this.#masters) client.disconnect();
    });
  }
}

async function keysIn({ client }: Master, slot: number, atMost: number): Promise<string[]> {
  return (await client.call("CLUSTER", ["GETKEYSINSLOT", `${slot}`, `${Math.max(1, atMost)}`])) as string[];
}

/** Whether one of these keys is too large. */
async function isHeavy({ client }: Master, keys: readonly string[]): Promise<boolean> {
  const sizes = await Promise.all(keys.map((key) => client.call("MEMORY", ["USAGE", key])));
  return sizes.some((size) => Number(size) > largestKey);
}
