import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { ChatMemoryStore } from "@turnkeep/core";
import { startDynamo, startMongo, startPostgres, startRedis } from "@turnkeep/servers";
import { dynamoStore } from "@turnkeep/store-dynamo";
import { mongoStore } from "@turnkeep/store-mongo";
import { postgresStore } from "@turnkeep/store-postgres";
import { redisStore } from "@turnkeep/store-redis";
import { type LibsqlClient, sqliteStore } from "@turnkeep/store-sqlite";
import Database from "libsql";
import { configOf, UnitCounter } from "./dynamo-units.ts";
import { startTrafficCounter } from "./traffic.ts";

/** What a call sent: round trips and KB; of DynamoDB requests and units written and read; of SQLite batches and statements. */
export interface Spent {
  readonly calls: number;
  readonly out: number;
  readonly in: number;
}

/** A store whose calls are counted, and another one over the same data that goes its own way. */
export interface Counted {
  readonly name: string;
  readonly store: ChatMemoryStore;
  readonly other: ChatMemoryStore;
  /** What `out` and `in` are, for the reader of a table. */
  readonly show: (spent: Spent) => string;
  spent(run: () => Promise<unknown>): Promise<Spent>;
  stop(): Promise<void>;
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

const inKb = ({ calls, out }: Spent): string => `${calls} · ${(out / 1024).toFixed(1)} KB`;

/** No connection but those of the store itself may speak while traffic is counted. */
const quiet = "?directConnection=true&serverMonitoringMode=poll&heartbeatFrequencyMS=1800000";

/** By the name that the command line takes. */
export const countedDatabases: Readonly<Record<string, () => Promise<Counted>>> = {
  async postgres() {
    const server = await startPostgres({ log: () => {} });
    const other = postgresStore({ url: server.url });
    await other.migrate();
    return overNetwork("Postgres", server, other, (url) => postgresStore({ url }));
  },
  async redis() {
    const server = await startRedis({ log: () => {} });
    const other = redisStore({ url: server.url });
    return overNetwork("Redis", server, other, (url) => redisStore({ url }));
  },
  async mongo() {
    const server = await startMongo({ log: () => {} });
    const address = new URL(server.url);
    address.search = quiet;
    const other = mongoStore({ url: server.url });
    await other.migrate();
    const own = { url: address.href, stop: () => server.stop() };
    return overNetwork("MongoDB", own, other, (url) => mongoStore({ url }));
  },
  async dynamo() {
    const server = await startDynamo({ log: () => {} });
    const config = configOf(server.url);
    const units = new UnitCounter(config);
    const client = new DynamoDBClient(config);
    units.watch(client);
    let calls = 0;
    const watched = {
      send(command: never): Promise<unknown> {
        calls++;
        return client.send(command);
      },
    };
    const other = dynamoStore({ url: server.url });
    await other.migrate();
    const store = dynamoStore({ client: watched });
    return {
      name: "DynamoDB",
      store,
      other,
      show: ({ calls, out, in: read }) => `${calls} · ${rounded(out)} + ${rounded(read)} units`,
      async spent(run) {
        calls = 0;
        const { write, read } = await units.of(run);
        return { calls, out: write, in: read };
      },
      async stop() {
        await Promise.all([store, other].map((each) => each.close()));
        client.destroy();
        units.close();
        await server.stop();
      },
    };
  },
  async sqlite() {
    const database = new Database(":memory:");
    let [batches, statements] = [0, 0];
    const store = sqliteStore({
      client: inBatches(database, (count) => {
        batches++;
        statements += count;
      }),
    });
    await store.migrate();
    return {
      name: "SQLite",
      store,
      other: sqliteStore({ client: inBatches(database, () => {}) }),
      show: ({ calls, out }) => `${calls} · ${out} statements`,
      async spent(run) {
        [batches, statements] = [0, 0];
        await run();
        return { calls: batches, out: statements, in: 0 };
      },
      async stop() {
        database.close();
      },
    };
  },
};

function rounded(units: number): number {
  return Math.round(units * 10) / 10;
}

async function overNetwork(
  name: string,
  server: Server,
  other: ChatMemoryStore,
  open: (url: string) => ChatMemoryStore,
): Promise<Counted> {
  const counter = await startTrafficCounter(server.url);
  const store = open(counter.through(server.url));
  return {
    ...{ name, store, other, show: inKb },
    async spent(run) {
      counter.traffic();
      await run();
      const { roundTrips, bytesSent, bytesReceived } = counter.traffic();
      return { calls: roundTrips, out: bytesSent, in: bytesReceived };
    },
    async stop() {
      await Promise.all([store, other].map((each) => each.close()));
      await counter.stop();
      await server.stop();
    },
  };
}

/** A client whose batches are told: over a network, as with D1 and Turso, each is a round trip. */
function inBatches(database: Database.Database, told: (statements: number) => void): LibsqlClient {
  return {
    async batch(statements) {
      told(statements.length);
      return database.transaction(() =>
        statements.map(({ sql, args }) => {
          const statement = database.prepare(sql);
          if (statement.reader) return { rows: statement.all(...args) };
          statement.run(...args);
          return { rows: [] };
        }),
      )();
    },
  };
}
