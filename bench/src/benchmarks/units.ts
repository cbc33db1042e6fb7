import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type ChatMemoryStore, isTurnkeepError, type MemoryUpdate, type StoredMessage } from "@turnkeep/core";
import { startDynamo } from "@turnkeep/servers";
import type { Benchmark } from "../benchmark.ts";
import { mean, noise } from "../measure.ts";
import type { Cell } from "../report/table.ts";
import { dynamoWithout, parts } from "../stores/dynamo-parts.ts";
import { configOf, UnitCounter } from "../stores/dynamo-units.ts";

/** The fewest and the most bytes of a message; short ones are more frequent. */
const mixes: readonly (readonly [name: string, least: number, most: number])[] = [
  ["100 to 500 bytes", 100, 500],
  ["500 bytes to 5 KB", 500, 5_000],
];

/** How many messages stay in memory. */
const window = 10;

const columns = [
  "switched off",
  ...["append, write", "append, read", "append, requests", "read, read"],
  ...["page of 20, read", "regenerate, write", "put, write", "put, read"],
  ...["import of 300, write", "read of it, read", "append after 1,000 edits, write", "list, read"],
];

/** What each part of the DynamoDB store buys: capacity units and requests with it, and with it switched off. */
export const units: Benchmark = {
  name: "units",
  about: "capacity units of the DynamoDB store with each of its parts switched off",
  async run({ quick, say }) {
    const appends = quick ? 20 : 60;
    const server = await startDynamo({ log: () => {} });
    const config = configOf(server.url);
    const counter = new UnitCounter(config);
    const client = new DynamoDBClient(config);
    counter.watch(client);
    let requests = 0;
    const counted = {
      send(command: never): Promise<unknown> {
        requests++;
        return client.send(command);
      },
    };
    const cost = async (run: () => Promise<unknown>): Promise<Cost> => {
      requests = 0;
      return { ...(await counter.of(run)), requests };
    };
    const rows = mixes.map((): Cell[][] => []);
    try {
      for (const [index, part] of parts.entries()) {
        say(part.name);
        const { dynamoStore } = await dynamoWithout(part);
        const store = dynamoStore({ client: counted, tableName: `part-${index}` });
        await store.migrate();
        for (const [mix, [name, least, most]] of mixes.entries()) {
          const talk = new Talk(store, name, sizes(least, most), cost);
          rows[mix]?.push([part.name, ...(await talk.costs(appends))]);
        }
      }
    } finally {
      client.destroy();
      counter.close();
      await server.stop();
    }
    const details = mixes.map(([name], mix) => {
      const title = `Capacity units: messages of ${name}, ${window} live, means of ${appends} appends of one or two messages`;
      return { title, columns, rows: rows[mix] ?? [] };
    });
    return { tables: [], details };
  },
};

/** The same in each run; as many below the middle of the digits as above. */
function* sizes(least: number, most: number): Generator<number, never> {
  for (const number of noise()) yield Math.round(least * (most / least) ** (number / 65_536));
  throw new Error("Noise never ends");
}

interface Cost {
  readonly read: number;
  readonly write: number;
  readonly requests: number;
}

/** A conversation of which a window stays live. */
class Talk {
  readonly #store: ChatMemoryStore;
  readonly #cost: (run: () => Promise<unknown>) => Promise<Cost>;
  readonly #id: string;
  readonly #sizes: Generator<number, never>;
  #version: string | null = null;
  #live: StoredMessage[] = [];
  #nextSeq = 1;

  constructor(
    store: ChatMemoryStore,
    id: string,
    sizes: Generator<number, never>,
    cost: (run: () => Promise<unknown>) => Promise<Cost>,
  ) {
    this.#store = store;
    this.#cost = cost;
    this.#id = id;
    this.#sizes = sizes;
  }

  async costs(appends: number): Promise<Cell[]> {
    const adds: Cost[] = [];
    const reads: Cost[] = [];
    const pages: Cost[] = [];
    const again: Cost[] = [];
    const puts: Cost[] = [];
    for (let round = 0; round < appends; round++) {
      adds.push(await this.#cost(() => this.#add(1 + (round % 2))));
      reads.push(await this.#cost(() => this.#store.getMessages(this.#id)));
      if (round % 10 !== 9) continue;
      const before = Math.round((this.#nextSeq * (round % 70)) / 70) + 1;
      const page = { order: "descending", limit: 20, before } as const;
      pages.push(await this.#cost(() => this.#store.getHistory(this.#id, page)));
      again.push(await this.#cost(() => this.#regenerate()));
      puts.push(await this.#cost(() => this.#put()));
    }
    const imported = new Talk(this.#store, `${this.#id} imported`, this.#sizes, this.#cost);
    const imports = await this.#cost(() => imported.#import(300)).catch(refused);
    const after = await this.#cost(() => this.#store.getMessages(`${this.#id} imported`));
    const edited = new Talk(this.#store, `${this.#id} edited`, this.#sizes, this.#cost);
    const edits = await edited.#afterEdits(1_000).catch(refused);
    const list = await this.#cost(() => this.#store.listMemories({}));
    const of = (costs: readonly Cost[], kind: keyof Cost): number => mean(costs.map((cost) => cost[kind]));
    return [
      ...[of(adds, "write"), of(adds, "read"), of(adds, "requests")],
      ...[of(reads, "read"), of(pages, "read"), of(again, "write"), of(puts, "write"), of(puts, "read")],
      ...[imports?.write ?? "refused", after.read, edits?.write ?? "refused", list.read],
    ];
  }

  async #add(count: number): Promise<void> {
    const append = Array.from({ length: count }, (_, index) => this.#message(this.#nextSeq + index));
    const live = [...this.#live, ...append];
    const move = live.slice(0, -window).map(({ seq }) => ({ seq, to: "evicted" as const }));
    await this.#update({ nextSeq: this.#nextSeq + count, append, move });
    this.#live = live.slice(-window);
  }

  /** So many at once, of which the first one stays live, as a system message does, and the newest. */
  async #import(count: number): Promise<void> {
    const append = Array.from({ length: count }, (_, index) => this.#message(1 + index));
    const move = append.slice(1, -window).map(({ seq }) => ({ seq, to: "evicted" as const }));
    await this.#update({ nextSeq: count + 1, append, move });
  }

  /** An append where every second message so far was superseded by the next. */
  async #afterEdits(count: number): Promise<Cost> {
    const append = Array.from({ length: 2 * count }, (_, index) => this.#message(1 + index, 50));
    const move = append.map(({ seq }) => ({ seq, to: seq % 2 === 0 ? "evicted" : "superseded" }) as const);
    await this.#update({ nextSeq: 2 * count + 1, append, move });
    return this.#cost(() =>
      this.#update({ append: [this.#message(this.#nextSeq, 50)], nextSeq: this.#nextSeq + 1 }),
    );
  }

  /** The newest message is superseded by another one. */
  async #regenerate(): Promise<void> {
    const append = [this.#message(this.#nextSeq)];
    const move = this.#live.slice(-1).map(({ seq }) => ({ seq, to: "superseded" as const }));
    await this.#update({ nextSeq: this.#nextSeq + 1, append, move });
    this.#live = [...this.#live.slice(0, -1), ...append];
  }

  /** The fifth newest message is replaced. */
  async #put(): Promise<void> {
    const { seq, id } = this.#live.at(-5) as StoredMessage;
    await this.#update({ replace: [{ ...this.#message(seq), id }] });
  }

  #message(seq: number, bytes = this.#sizes.next().value): StoredMessage {
    const payload = JSON.stringify("x".repeat(bytes));
    return { id: randomUUID(), seq, createdAt: Date.now(), payload };
  }

  async #update(change: Partial<MemoryUpdate>): Promise<void> {
    const version = randomUUID();
    const whole = { append: [], replace: [], move: [], nextSeq: this.#nextSeq, ...change };
    await this.#store.updateMessages(this.#id, { ...whole, expected: this.#version, version });
    this.#version = version;
    this.#nextSeq = whole.nextSeq;
  }
}

function refused(error: unknown): undefined {
  if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
}
