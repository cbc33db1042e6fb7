import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import type { ModelMessage } from "@turnkeep/core";
import type { Contender, Conversation, Window } from "./contender.ts";

const tableName = "floor";

export type Item = Record<string, AttributeValue>;

/** What the database takes in one `BatchWriteItem`, and how many of those are under way while a conversation is filled. */
const [writesAtOnce, batchesAtOnce] = [25, 8];

/** A conversation is a partition, its items are in the order of a number. */
export async function createTable(client: DynamoDBClient, TableName: string = tableName): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "N" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
    }),
  );
}

/** Writes items that were not there, as fast as it can. */
export async function fillTable(
  client: DynamoDBClient,
  TableName: string,
  items: readonly Item[],
): Promise<void> {
  async function writeBatch(batch: readonly Item[]): Promise<void> {
    let rest: object[] = batch.map((Item) => ({ PutRequest: { Item } }));
    while (rest.length > 0) {
      const RequestItems = { [TableName]: rest };
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems }));
      rest = UnprocessedItems?.[TableName] ?? [];
    }
  }
  for (let from = 0; from < items.length; from += writesAtOnce * batchesAtOnce) {
    const starts = Array.from({ length: batchesAtOnce }, (_, index) => from + index * writesAtOnce);
    await Promise.all(starts.map((start) => writeBatch(items.slice(start, start + writesAtOnce))));
  }
}

/** Rises in this process, whichever floor appends. */
let said = 0;

/** An item a message, and nothing else: no version, no check, no second writer. */
export function dynamoFloor(client: DynamoDBClient, rowsOfTokens: number): Contender {
  const filled = new Set<string>();
  const itemOf = (name: string, message: ModelMessage): Item => ({
    pk: { S: name },
    sk: { N: String(said++) },
    payload: { S: JSON.stringify(message) },
  });
  return {
    name: "floor",
    kind: "floor",
    async fill(name, messages) {
      if (filled.has(name)) return;
      filled.add(name);
      const items = messages.map((message) => itemOf(name, message));
      await fillTable(client, tableName, items);
    },
    open(name: string, window: Window): Conversation {
      const rows = "messages" in window ? window.messages : rowsOfTokens;
      const newest = (Limit: number, ProjectionExpression: string) =>
        client.send(
          new QueryCommand({
            ...{ TableName: tableName, Limit, ProjectionExpression },
            ...{ ConsistentRead: true, ScanIndexForward: false },
            KeyConditionExpression: "pk = :name",
            ExpressionAttributeValues: { ":name": { S: name } },
          }),
        );
      return {
        async append(message: ModelMessage) {
          await client.send(new PutItemCommand({ TableName: tableName, Item: itemOf(name, message) }));
          return false;
        },
        async read() {
          const { Items = [] } = await newest(rows, "payload");
          return Items.reverse().map(({ payload }) => JSON.parse(payload?.S ?? "") as ModelMessage);
        },
        readUnchanged: () => newest(1, "sk"),
      };
    },
    async close() {
      client.destroy();
    },
  };
}
