import {
  type AttributeValue,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { Units } from "./contender.ts";

type Item = Readonly<Record<string, AttributeValue>>;

interface Capacity {
  readonly CapacityUnits?: number;
}

type Next = (args: { input: Record<string, unknown> }) => Promise<{ output: unknown }>;

/** What is used of a client of the AWS SDK 3, whatever its version. */
export interface SdkClient {
  readonly middlewareStack: {
    add(
      middleware: (next: Next, context: { readonly commandName?: string }) => Next,
      place: { step: "initialize"; name: string },
    ): void;
  };
  destroy(): void;
}

/** What `new DynamoDBClient` takes for a DynamoDB Local. */
export function configOf(url: string): DynamoDBClientConfig {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return { endpoint: new URL(url).origin, region: "us-east-1", credentials };
}

/** An action of a transaction. */
interface Action {
  readonly TableName: string;
  readonly Item?: Item;
  readonly Key?: Item;
}

/**
 * Adds up what the commands of its clients consume. DynamoDB Local says it of each, but rounds a transaction as a whole,
 * where DynamoDB rounds each item of it up to 1 KB and counts it twice: so these are reckoned from the sizes of the items
 * before and after, by the rules of the developer guide ("DynamoDB item sizes and formats", "Read and write operations").
 */
export class UnitCounter {
  readonly #own: DynamoDBClient;
  #counting = false;
  #read = 0;
  #write = 0;

  constructor(config: DynamoDBClientConfig) {
    this.#own = new DynamoDBClient(config);
  }

  watch(client: object): void {
    (client as SdkClient).middlewareStack.add(
      (next, { commandName = "" }) =>
        (args) =>
          this.#counting ? this.#count(next, args, commandName) : next(args),
      { step: "initialize", name: "countUnits" },
    );
  }

  async of(run: () => Promise<unknown>): Promise<Units> {
    [this.#read, this.#write, this.#counting] = [0, 0, true];
    try {
      await run();
    } finally {
      this.#counting = false;
    }
    return { read: this.#read, write: this.#write };
  }

  close(): void {
    this.#own.destroy();
  }

  async #count(next: Next, args: Parameters<Next>[0], command: string): ReturnType<Next> {
    const isTransaction = command === "TransactWriteItemsCommand";
    const actions = isTransaction ? actionsOf(args.input) : [];
    const before = await Promise.all(actions.map((action) => this.#sizeOf(action)));
    const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: "TOTAL" } });
    const after = await Promise.all(actions.map((action) => this.#sizeOf(action)));
    if (isTransaction) {
      for (const [index, size] of after.entries()) {
        this.#write += 2 * Math.max(1, Math.ceil(Math.max(size, before[index] ?? 0) / 1024));
      }
      return answer;
    }
    const { ConsumedCapacity = [] } = answer.output as { ConsumedCapacity?: Capacity | Capacity[] };
    const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    if (/^(Get|BatchGet|TransactGet|Query|Scan)/.test(command)) this.#read += units;
    else this.#write += units;
    return answer;
  }

  /** In bytes; 0 where there is no such item. */
  async #sizeOf({ TableName, Key }: Required<Pick<Action, "TableName" | "Key">>): Promise<number> {
    const { Item } = await this.#own.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
    return Object.entries(Item ?? {}).reduce((sum, [name, value]) => sum + namedSize(name, value), 0);
  }
}

/** Where each action of a transaction of our store writes: its table's keys are `pk` and `sk`. */
function actionsOf(input: Record<string, unknown>): Required<Pick<Action, "TableName" | "Key">>[] {
  const { TransactItems } = input as { TransactItems: Record<string, Action>[] };
  return TransactItems.flatMap((item) => Object.values(item)).map(({ TableName, Item, Key }) => {
    if (Key !== undefined) return { TableName, Key };
    const { pk, sk } = Item as Record<"pk" | "sk", AttributeValue>;
    return { TableName, Key: { pk, sk } };
  });
}

/** As the developer guide reckons: names and texts in UTF-8, two digits of a number a byte and one more, 3 for a map or a list and 1 for each of its members. */
function sizeOf(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return Math.ceil(value.N.replace(/^-?0*/, "").length / 2) + 1;
  if (value.B !== undefined) return value.B.length;
  if (value.SS !== undefined) return value.SS.reduce((sum, S) => sum + sizeOf({ S }), 0);
  if (value.NS !== undefined) return value.NS.reduce((sum, N) => sum + sizeOf({ N }), 0);
  if (value.L !== undefined) return value.L.reduce((sum, one) => sum + sizeOf(one) + 1, 3);
  if (value.M === undefined) return 1;
  return Object.entries(value.M).reduce((sum, [name, one]) => sum + namedSize(name, one) + 1, 3);
}

function namedSize(name: string, value: AttributeValue): number {
  return Buffer.byteLength(name) + sizeOf(value);
}
