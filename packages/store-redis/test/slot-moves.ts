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

  /** Moves the slot of a key. `underWay` is called before the first of its keys moves, and after each, with how many have. */
  async move(key: string, underWay: (moved: number) => Promise<unknown>): Promise<void> {
    const slot = await this.#masters[0]?.client.cluster("KEYSLOT", key);
    const from = await this.#owner(Number(slot));
    const to = this.#masters[(this.#masters.indexOf(from) + 1) % this.#masters.length] ?? from;
    if (await this.#isHeavy(from, Number(slot))) return;
    await to.client.call("CLUSTER", ["SETSLOT", `${slot}`, "IMPORTING", from.id]);
    await from.client.call("CLUSTER", ["SETSLOT", `${slot}`, "MIGRATING", to.id]);
    for (let moved = 0; ; ) {
      await underWay(moved);
      const [name] = (await from.client.call("CLUSTER", ["GETKEYSINSLOT", `${slot}`, "1"])) as string[];
      if (name === undefined) break;
      const place = ["127.0.0.1", to.port, "", 0, 10_000];
      if ((await from.client.call("MIGRATE", [...place, "KEYS", name])) === "OK") {
        moved++;
        this.moved.keys++;
      }
    }
    for (const { client } of [to, from]) await client.call("CLUSTER", ["SETSLOT", `${slot}`, "NODE", to.id]);
    this.#owners.set(Number(slot), to);
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

  async #isHeavy({ client }: Master, slot: number): Promise<boolean> {
    const names = (await client.call("CLUSTER", ["GETKEYSINSLOT", `${slot}`, "1000"])) as string[];
    const sizes = await Promise.all(names.map((name) => client.call("MEMORY", ["USAGE", name])));
    return sizes.some((size) => Number(size) > largestKey);
  }

  /** How often servers refused a command because its keys are in two places. */
  async refusals(): Promise<number> {
    const counts = this.#masters.map(async ({ client }) =>
      Number(/errorstat_TRYAGAIN:count=(\d+)/.exec(await client.info("errorstats"))?.[1] ?? 0),
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
