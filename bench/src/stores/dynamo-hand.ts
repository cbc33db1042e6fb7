import { randomUUID } from "node:crypto";
import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { ModelMessage } from "@turnkeep/core";
import type { Contender, Conversation, Window } from "./contender.ts";
import { fillTable, type Item } from "./dynamo-floor.ts";

/** Its table, which is made as the floor's. */
export const handTable = "hand";

interface Entry {
  readonly id: string;
  readonly createdAt: number;
  readonly payload: string;
  readonly meta: string;
}

/** Behind all rows, whose place is the seq of their first message. */
const placeOfHead = Number.MAX_SAFE_INTEGER;
/** In bytes: what our store keeps in its head, so that an append costs as few write units. */
const mostInHead = 3 * 1024;
/** Roughly, of an entry without its payload. */
const bytesBeside = 150;
/** Roughly. */
const messagesOfRow = 4;

const meta = '{"tokens":{"o200k_base":100}}';
const conflicts = new Set<unknown>(["ConditionalCheckFailedException", "TransactionCanceledException"]);

function entryOf(message: ModelMessage): Entry {
  return { id: randomUUID(), createdAt: Date.now(), payload: JSON.stringify(message), meta };
}

function itemOf(name: string, place: number, entries: readonly Entry[], more: Item = {}): Item {
  return { pk: { S: name }, sk: { N: String(place) }, entries: { S: JSON.stringify(entries) }, ...more };
}

function headItem(name: string, version: string, next: number, entries: readonly Entry[]): Item {
  const updatedAt = { N: String(Date.now()) };
  return itemOf(name, placeOfHead, entries, {
    version: { S: version },
    next: { N: String(next) },
    updatedAt,
  });
}

function entriesOf(item: Item | undefined): readonly Entry[] {
  return JSON.parse(item?.entries?.S ?? "[]") as Entry[];
}

function isFull(entries: readonly Entry[]): boolean {
  return entries.reduce((sum, { payload }) => sum + Buffer.byteLength(payload) + bytesBeside, 0) > mostInHead;
}

/**
 * What our store promises of a message, written by hand in one conditional put of one item: it is stored with its id, time and
 * count under a new version, if the one before is still in place, and a read sees what others wrote. No check of what is given,
 * no window. The item holds the newest messages; when they have more than 3 KB, a transaction moves them into a row beside it.
 */
export function dynamoByHand(client: DynamoDBClient, rowsOfTokens: number): Contender {
  const TableName = handTable;
  const filled = new Set<string>();
  return {
    name: "the same by hand",
    kind: "hand",
    async fill(name, messages) {
      if (filled.has(name)) return;
      filled.add(name);
      const items: Item[] = [];
      let entries: Entry[] = [];
      for (const [index, message] of messages.entries()) {
        if (isFull(entries)) {
          items.push(itemOf(name, index + 1 - entries.length, entries));
          entries = [];
        }
        entries.push(entryOf(message));
      }
      await fillTable(client, TableName, [...items, headItem(name, "first", messages.length + 1, entries)]);
    },
    open(name: string, window: Window): Conversation {
      const rows = "messages" in window ? window.messages : rowsOfTokens;
      const Key = { pk: { S: name }, sk: { N: String(placeOfHead) } };
      let version: string | null = null;
      let next = 1;
      let newest: readonly Entry[] = [];
      let shown: readonly ModelMessage[] = [];

      /** The head, and rows from the newest on until there are enough messages. */
      async function lookAtAll(): Promise<readonly ModelMessage[]> {
        let older: readonly Entry[] = [];
        let ExclusiveStartKey: Item | undefined;
        do {
          const { Items = [], LastEvaluatedKey } = await client.send(
            new QueryCommand({
              ...{ TableName, ConsistentRead: true, ScanIndexForward: false, ExclusiveStartKey },
              ...{
                KeyConditionExpression: "pk = :name",
                ExpressionAttributeValues: { ":name": { S: name } },
              },
              Limit: Math.ceil(rows / messagesOfRow) + 1,
            }),
          );
          if (ExclusiveStartKey === undefined) take(Items.shift());
          // What was moved between the reads of the head and of the rows is in both.
          const before = Items.filter(({ sk }) => Number(sk?.N) < next - newest.length);
          older = [...before.reverse().flatMap(entriesOf), ...older];
          ExclusiveStartKey = LastEvaluatedKey;
        } while (ExclusiveStartKey !== undefined && older.length + newest.length < rows);
        shown = [...older, ...newest].slice(-rows).map(({ payload }) => JSON.parse(payload));
        return shown;
      }
      function take(head: Item | undefined): void {
        version = head?.version?.S ?? null;
        next = Number(head?.next?.N ?? 1);
        newest = entriesOf(head);
      }
      /** Of a conversation that was read before, the head alone has what is new, unless that was much. */
      async function look(): Promise<readonly ModelMessage[]> {
        if (version === null) return lookAtAll();
        const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
        if (Item?.version?.S === version) return shown;
        const seen = next;
        take(Item);
        if (seen < next - newest.length) return lookAtAll();
        const added = newest.slice(seen - next).map(({ payload }) => JSON.parse(payload));
        shown = [...shown, ...added].slice(-rows);
        return shown;
      }
      async function write(made: string, entries: readonly Entry[]): Promise<void> {
        const put = {
          ...{ TableName, Item: headItem(name, made, next + 1, entries) },
          ...{ ConditionExpression: "version = :expected" },
          ExpressionAttributeValues: { ":expected": { S: version ?? "" } },
        };
        if (entries.length > newest.length) {
          await client.send(new PutItemCommand(put));
          return;
        }
        const row = { TableName, Item: itemOf(name, next - newest.length, newest) };
        await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: put }, { Put: row }] }));
      }
      return {
        async append(message) {
          for (;;) {
            if (version === null) await look();
            const made = randomUUID();
            const entries = isFull(newest) ? [entryOf(message)] : [...newest, entryOf(message)];
            try {
              await write(made, entries);
            } catch (error) {
              if (!conflicts.has((error as Error).name)) throw error;
              version = null;
              continue;
            }
            version = made;
            next++;
            newest = entries;
            shown = [...shown, message].slice(-rows);
            return false;
          }
        },
        read: look,
      };
    },
    async close() {
      client.destroy();
    },
  };
}
