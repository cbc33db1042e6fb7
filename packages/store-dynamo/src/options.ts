import {
  type ConnectionOptions,
  type ConnectionRules,
  checkConnection,
  checkOptionText,
  checkTtl,
  invalidOption,
  parseUrl,
  show,
} from "@turnkeep/core/store-kit";
import type { DynamoClient } from "./client.ts";
import { ownAttributes } from "./items.ts";
import type { TableNames } from "./table.ts";

/**
 * How to reach the database, one of:
 *
 * - `client`: a `DynamoDBClient` or `DynamoDB` of `@aws-sdk/client-dynamodb`.
 * - `url`: an endpoint, `https://dynamodb.eu-central-1.amazonaws.com`, or `http://key:secret@localhost:8000` for
 *   DynamoDB Local. Without credentials in the URL the driver looks for them in its usual places.
 * - `config`: what `new DynamoDBClient(config)` takes; `{}` for the settings of the environment.
 */
export type DynamoConnection = ConnectionOptions<DynamoClient>;

/** Options of `dynamoStore`: one of `client`, `url` and `config` (see {@link DynamoConnection}), and these. */
export type DynamoStoreOptions = DynamoConnection & {
  /** The name or ARN of the table. Default `"turnkeep"`. */
  readonly tableName?: string | undefined;
  /** The name of the table's partition key, a string. Default `"pk"`. */
  readonly partitionKey?: string | undefined;
  /** The name of the table's sort key, a string. Default `"sk"`. */
  readonly sortKey?: string | undefined;
  /** The attribute for DynamoDB's own expiry (TTL). Default `"ttl"`. */
  readonly ttlAttribute?: string | undefined;
  /**
   * The prefix of partition keys, so that others can share the table. Default `""`. Up to 512 UTF-8 bytes, without
   * `memory:` and `owner:`, which follow the prefix.
   */
  readonly prefix?: string | undefined;
  /** A memory expires after this many milliseconds without a write, by this process's clock. Default: never. */
  readonly ttlMs?: number | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: DynamoConnection;
  readonly table: TableNames;
  readonly ttlMs: number | undefined;
}

const connectionRules: ConnectionRules = {
  factory: "dynamoStore",
  client: { method: "send", is: "a DynamoDBClient of @aws-sdk/client-dynamodb" },
  schemes: ["http://", "https://"],
  config: "new DynamoDBClient(config)",
  options: ["tableName", "partitionKey", "sortKey", "ttlAttribute", "prefix", "ttlMs"],
};

/** What follows the prefix in partition keys: a prefix that contains it could collide with a shorter one. */
const prefixRules = {
  maxBytes: 512,
  forbidden: /memory:|owner:/,
  rule: 'without "memory:" and "owner:"',
};

/** Fills in the defaults. `INVALID_OPTION` for anything not documented above. */
export function normalizeOptions(options: DynamoStoreOptions): NormalOptions {
  checkConnection(options, connectionRules);
  if (options.url !== undefined) parseUrl(options.url);
  const { tableName = "turnkeep", partitionKey = "pk", sortKey = "sk", ttlAttribute = "ttl" } = options;
  const { prefix = "", ttlMs } = options;
  // A table of another account is named by its ARN.
  if (typeof tableName !== "string" || !/^[\w.:/-]{3,1024}$/.test(tableName)) {
    throw invalidOption(`tableName must be the name or ARN of a table, not ${show(tableName)}`);
  }
  checkAttributes({ partitionKey, sortKey, ttlAttribute });
  checkOptionText("prefix", prefix, prefixRules);
  checkTtl(ttlMs);
  return { connection: options, table: { tableName, partitionKey, sortKey, ttlAttribute, prefix }, ttlMs };
}

function checkAttributes(names: Readonly<Record<string, string>>): void {
  const taken = new Set(["", ...ownAttributes]);
  for (const [option, name] of Object.entries(names)) {
    checkOptionText(option, name, { maxBytes: 255 });
    if (taken.has(name)) {
      throw invalidOption(
        `${option} must not be ${show(name)}: it needs a name, and one that no other attribute of the items has`,
      );
    }
    taken.add(name);
  }
}
