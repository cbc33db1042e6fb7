import { randomUUID } from "node:crypto";
import { type ConformanceHarness, type FaultOptions, failing } from "@turnkeep/conformance";
// Brings the type of `inject("mongoUrl")` with it.
import type {} from "@turnkeep/servers";
import { bundled } from "@turnkeep/store-tests";
import { BSON, MongoClient as Driver } from "mongodb";
import { type MongoClient, mongoStore } from "../src/index.ts";

/** A database of the test's own: the server is shared. */
export function newDatabase(): string {
  return `test-${randomUUID()}`;
}

/** The same database, its collections ready. */
export async function migrated(url: string, database: string): Promise<string> {
  const store = mongoStore({ url, database });
  await store.migrate();
  await store.close();
  return database;
}

/** A client for what tests look at or break themselves. */
export async function withClient<T>(url: string, use: (client: Driver) => Promise<T>): Promise<T> {
  const client = new Driver(url);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const memoriesOf = (client: Driver, database: string) =>
  client.db(database).collection<{ _id: string }>("turnkeep_memories");
const messagesOf = (client: Driver, database: string) =>
  client.db(database).collection<{ _id: string; memory: string }>("turnkeep_messages");

/** A value of a document, and where it stands. */
interface Field {
  readonly collection: "memories" | "messages";
  readonly _id: string;
  readonly name: string;
  readonly text: string;
}

async function fieldsOf(client: Driver, database: string, memoryId: string): Promise<Field[]> {
  const memories = await memoriesOf(client, database).find({ _id: memoryId }).toArray();
  const messages = await messagesOf(client, database).find({ memory: memoryId }).sort({ _id: 1 }).toArray();
  const fields = (collection: Field["collection"], { _id, ...rest }: { _id: string }): Field[] =>
    Object.entries(rest).map(([name, value]) => ({
      ...{ collection, _id, name },
      text: BSON.EJSON.stringify(value, { relaxed: true }),
    }));
  return [
    ...memories.flatMap((memory) => fields("memories", memory)),
    ...messages.flatMap((message) => fields("messages", message)),
  ];
}

/** Every value that the database holds for a memory, in its document and in rows. */
export async function rawRead(client: Driver, database: string, memoryId: string): Promise<string[]> {
  return (await fieldsOf(client, database, memoryId)).map(({ text }) => text);
}

/** Puts texts in the place of the values that `rawRead` answers: the values that they stand for, else the texts. */
export async function rawWrite(
  client: Driver,
  database: string,
  memoryId: string,
  texts: readonly string[],
): Promise<void> {
  const fields = await fieldsOf(client, database, memoryId);
  for (const [index, { collection, _id, name }] of fields.entries()) {
    // A row whose memory is damaged too could not be told from those of others.
    if (collection === "messages" && name === "memory") continue;
    const target = collection === "memories" ? memoriesOf(client, database) : messagesOf(client, database);
    await target.updateOne({ _id }, [{ $set: { [name]: { $literal: parsed(texts[index] ?? "") } } }]);
  }
}

/** Removes the document or row that holds the value at this index of what `rawRead` answers. */
export async function rawRemove(
  client: Driver,
  database: string,
  memoryId: string,
  index: number,
): Promise<void> {
  const field = (await fieldsOf(client, database, memoryId))[index];
  if (field === undefined) return;
  const target =
    field.collection === "memories" ? memoriesOf(client, database) : messagesOf(client, database);
  await target.deleteOne({ _id: field._id });
}

function parsed(text: string): unknown {
  try {
    return BSON.EJSON.parse(text);
  } catch {
    return text;
  }
}

const writes = new Set([
  "insertMany",
  "findOneAndUpdate",
  "findOneAndDelete",
  "updateOne",
  "updateMany",
  "deleteMany",
]);

/** A client whose `step`-th write (from 1) fails: unless it is told otherwise, the process is gone then. */
export function dying(client: Driver, options: FaultOptions): MongoClient {
  return intercepted(client, dyingAt(options));
}

/** Throws instead of the `step`-th write, and from then on, unless it is told otherwise. */
export function dyingAt(options: FaultOptions): (method: string) => unknown {
  const fault = failing(options);
  return (method) => (writes.has(method) ? fault.write() : fault.read());
}

/** What the kit does with a server, from this process and another, by a client that monitors its commands. */
export function serverAccess(
  place: () => { readonly url: string; readonly database: string },
  client: () => Driver,
): Pick<ConformanceHarness, "elsewhere" | "unreachable" | "counted" | "databaseNow"> {
  return {
    elsewhere: async () => ({
      module: await bundled(new URL("elsewhere.ts", import.meta.url)),
      data: place(),
    }),
    unreachable: () => ({
      store: mongoStore({
        url: "mongodb://app:s3cret@127.0.0.1:1/?serverSelectionTimeoutMS=300",
        database: "chat",
      }),
      secret: "s3cret",
    }),
    counted() {
      let [steps, bytes, underWay] = [0, 0, 0];
      const ended = (): void => {
        underWay--;
      };
      client().on("commandStarted", ({ command }) => {
        if (underWay++ === 0) steps++;
        bytes += BSON.calculateObjectSize(command);
      });
      client().on("commandSucceeded", ended).on("commandFailed", ended);
      const store = mongoStore({ client: client(), database: place().database });
      return { store, count: () => ({ steps, bytes }) };
    },
    databaseNow: () => databaseNow(client()),
  };
}

/** The clock of the server, or of the primary. */
export async function databaseNow(client: Driver): Promise<number> {
  const { localTime } = await client.db("admin").command({ hello: 1 });
  return (localTime as Date).getTime();
}

/**
 * A client that shows the name of each call of a collection before it is made. What `before` answers of a write, if that is
 * a function, is called once the write has been answered.
 */
export function intercepted(client: Driver, before: (method: string) => unknown): MongoClient {
  return {
    db: (name) => ({
      collection(collection, options) {
        const target = client.db(name).collection(collection, options);
        return new Proxy(target, {
          get(_, method: string) {
            const value: unknown = Reflect.get(target, method, target);
            if (typeof value !== "function") return value;
            const call = value.bind(target) as (...args: unknown[]) => unknown;
            if (!writes.has(method)) {
              return (...args: unknown[]) => {
                void before(method);
                return call(...args);
              };
            }
            return async (...args: unknown[]) => {
              const answered = await before(method);
              const answer = await call(...args);
              if (typeof answered === "function") answered();
              return answer;
            };
          },
        });
      },
    }),
  };
}
