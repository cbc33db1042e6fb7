import {
  BatchWriteItemCommand,
  CreateTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import type { ModelMessage } from "@turnkeep/core";
import type { Contender, Conversation, Window } from "./contender.ts";

const tableName = "floor";

/** What the database takes in one `BatchWriteItem`, and how many of those are under way while a conversation is filled. */
const [writesAtOnce, batchesAtOnce] = [25, 8];

export async function createFloorTable(client: DynamoDBClient): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
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

/** Rises in this process, whichever floor appends. */
let said = 0;

/** An item a message, and nothing else: no version, no check, no second writer. */
export function dynamoFloor(client: DynamoDBClient, rowsOfTokens: number): Contender {
  const filled = new Set<string>();
  const itemOf = (name: string, message: ModelMessage) => ({
    pk: { S: name },
    sk: { N: String(said++) },
    payload: { S: JSON.stringify(message) },
  });
  async function writeBatch(items: readonly ReturnType<typeof itemOf>[]): Promise<void> {
    let rest: object[] = items.map((Item) => ({ PutRequest: { Item } }));
    while (rest.length > 0) {
      const RequestItems = { [tableName]: rest };
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems }));
      rest = UnprocessedItems?.[tableName] ?? [];
    }
  }
  return {
    name: "floor",
    kind: "floor",
    async fill(name, messages) {
      if (filled.has(name)) return;
      filled.add(name);
      const items = messages.map((message) => itemOf(name, message));
      for (let from = 0; from < items.length; from += writesAtOnce * batchesAtOnce) {
        const starts = Array.from({ length: batchesAtOnce }, (_, index) => from + index * writesAtOnce);
        await Promise.all(starts.map((start) => writeBatch(items.slice(start, start + writesAtOnce))));
      }
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
