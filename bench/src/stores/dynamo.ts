import { CreateTableCommand, DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import type { TokenCounter } from "@turnkeep/core";
import { startDynamo } from "@turnkeep/servers";
import { dynamoStore } from "@turnkeep/store-dynamo";
import { conversation } from "../corpus.ts";
import { Peer } from "../peers.ts";
import { type Arena, type Contender, delayOf, delaysMs } from "./contender.ts";
import { createTable, dynamoFloor } from "./dynamo-floor.ts";
import { dynamoByHand, handTable } from "./dynamo-hand.ts";
import { configOf, type SdkClient, UnitCounter } from "./dynamo-units.ts";
import { type LangChainHistory, type LangChainMessages, langChain } from "./langchain.ts";
import { type MastraCore, type MastraMemoryStorage, type MastraStore, mastra } from "./mastra.ts";
import { ours, rowsShown } from "./ours.ts";
import { startTrafficCounter } from "./traffic.ts";

/** What is used of the peers. */
interface Histories extends LangChainMessages, MastraCore {
  mapStoredMessagesToChatMessages(stored: { type: string; data: object }[]): object[];
  readonly DynamoDBChatMessageHistory: new (options: {
    tableName: string;
    sessionId: string;
    config: DynamoDBClientConfig;
  }) => LangChainHistory & { readonly client: SdkClient; addMessages(messages: object[]): Promise<void> };
  readonly DynamoDBClient: new (config: DynamoDBClientConfig) => SdkClient;
  readonly DynamoDBDocumentClient: { from(client: SdkClient, options: object): object };
  readonly DynamoDBStore: new (options: {
    name: string;
    config: { id: string; client: object; tableName: string; disableInit: true };
  }) => MastraStore;
}

/**
 * DynamoDB Local, in memory: an emulator over SQLite in Java, whose times say little about those of DynamoDB. What
 * counts are round trips and capacity units.
 */
export async function startDynamoArena(counter: TokenCounter): Promise<Arena> {
  const peer = new Peer("stores-dynamo");
  peer.install();
  const histories = await peer.load<Histories>("histories.mjs");
  const server = await startDynamo({ log: () => {} });
  const counted = await startTrafficCounter(server.url, delaysMs);
  const rows = await rowsShown(conversation(400), { tokens: 4_000 }, counter);
  const units = new UnitCounter(configOf(server.url));
  const setUp = new DynamoDBClient(configOf(server.url));
  const store = dynamoStore({ client: setUp });
  await store.migrate();
  await store.close();
  await createTable(setUp);
  await createTable(setUp, handTable);
  await createPeerTables(setUp);
  setUp.destroy();

  return {
    name: "DynamoDB Local",
    bounds: { largest: 10_000, budgetMs: 500 },
    versions: { "DynamoDB Local": server.version, ...peer.versions() },
    async enter(way) {
      const config = configOf(way === "direct" ? server.url : counted.through(server.url, delayOf(way)));
      const openClient = (): DynamoDBClient => {
        const client = new DynamoDBClient(config);
        units.watch(client);
        return client;
      };
      return [
        ours(dynamoStore({ client: openClient() }), counter),
        dynamoFloor(openClient(), rows),
        dynamoByHand(openClient(), rows),
        langChainHistory(config, histories, units),
        await mastraStore(config, histories, units, counter),
      ];
    },
    traffic: counted.traffic,
    unitsOf: (run) => units.of(run),
    async stop() {
      units.close();
      await counted.stop();
      await server.stop();
    },
  };
}

const [langChainTable, mastraTable] = ["langchain", "mastra"];

/** As their documentation says: LangChain's with a partition key, Mastra's with two indexes. */
async function createPeerTables(client: DynamoDBClient): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: langChainTable,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    }),
  );
  const pairs = ["", "gsi1", "gsi2"].map((prefix) => [`${prefix}pk`, `${prefix}sk`] as const);
  const schemaOf = ([partition, sort]: readonly [string, string]) => [
    { AttributeName: partition, KeyType: "HASH" as const },
    { AttributeName: sort, KeyType: "RANGE" as const },
  ];
  const [primary, ...indexes] = pairs as [readonly [string, string], ...(readonly [string, string])[]];
  await client.send(
    new CreateTableCommand({
      TableName: mastraTable,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: pairs.flat().map((name) => ({ AttributeName: name, AttributeType: "S" })),
      KeySchema: schemaOf(primary),
      GlobalSecondaryIndexes: indexes.map((pair, index) => ({
        IndexName: `gsi${index + 1}`,
        KeySchema: schemaOf(pair),
        Projection: { ProjectionType: "ALL" },
      })),
    }),
  );
}

/**
 * One item for a session, with all of its messages: DynamoDB takes 400 KB. What a tool answered is kept as a message of
 * the assistant, because this history cannot read a tool's message back: it does not keep which call that answers.
 */
function langChainHistory(config: DynamoDBClientConfig, histories: Histories, units: UnitCounter): Contender {
  const historyOf = (sessionId: string) => {
    const history = new histories.DynamoDBChatMessageHistory({
      tableName: langChainTable,
      sessionId,
      config,
    });
    units.watch(history.client);
    return history;
  };
  const clients = new Map<string, ReturnType<typeof historyOf>>();
  const AIMessage = histories.AIMessage as unknown as LangChainMessages["ToolMessage"];
  return langChain(
    "@langchain/community",
    { ...histories, ToolMessage: AIMessage },
    (sessionId) => {
      const history = clients.get(sessionId) ?? historyOf(sessionId);
      clients.set(sessionId, history);
      return history;
    },
    async (sessionId, stored) => {
      const history = historyOf(sessionId);
      for (let from = 0; from < stored.length; from += 100) {
        const batch = stored.slice(from, from + 100);
        await history.addMessages(histories.mapStoredMessagesToChatMessages(batch));
      }
      history.client.destroy();
    },
    async () => {
      for (const { client } of clients.values()) client.destroy();
    },
  );
}

/** How many messages are saved at once while a conversation is filled: this storage writes one after the other. */
const savesAtOnce = 16;

async function mastraStore(
  config: DynamoDBClientConfig,
  histories: Histories,
  units: UnitCounter,
  counter: TokenCounter,
): Promise<Contender> {
  const bare = new histories.DynamoDBClient(config);
  units.watch(bare);
  const client = histories.DynamoDBDocumentClient.from(bare, {
    marshallOptions: { removeUndefinedValues: true },
  });
  const settings = { id: "benchmark", client, tableName: mastraTable, disableInit: true } as const;
  const store = new histories.DynamoDBStore({ name: "benchmark", config: settings });
  const storage = await store.getStore("memory");
  const faster: MastraMemoryStorage = {
    saveThread: (request) => storage.saveThread(request),
    listMessages: (query) => storage.listMessages(query),
    async saveMessages({ messages }) {
      const shares = Array.from({ length: savesAtOnce }, (_, share) =>
        messages.filter((_, index) => index % savesAtOnce === share),
      );
      const some = shares.filter(({ length }) => length > 0);
      await Promise.all(some.map((share) => storage.saveMessages({ messages: share })));
    },
  };
  return mastra("@mastra/dynamodb", histories, faster, counter, () => store.close());
}
