import {
  type ConnectionOptions,
  type Fields,
  invalidOption,
  nameText,
  optional,
  parseUrl,
  show,
  takeStoreOptions,
  ttl,
} from "@turnkeep/core/store-kit";
import type { DynamoClient } from "./client.ts";
import type { Timing } from "./head.ts";
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
   * `memory:`, `owner:` and `newest:`, which follow the prefix.
   */
  readonly prefix?: string | undefined;
  /** A memory expires after this many milliseconds without a write, by this process's clock. Default: never. */
  readonly ttlMs?: number | undefined;
  /**
   * How exactly the order `newest` knows a memory's last activity, in milliseconds: a write notes it if what is noted is
   * older. Default 60,000.
   */
  readonly activityMs?: number | undefined;
};

/** Options with every default filled in. */
export interface NormalOptions {
  readonly connection: DynamoConnection;
  readonly table: TableNames;
  readonly timing: Timing;
}

const attribute = nameText({ maxBytes: 255 });

const rules = {
  factory: "dynamoStore",
  client: { method: "send", is: "a DynamoDBClient of @aws-sdk/client-dynamodb" },
  schemes: ["http://", "https://"],
  config: "new DynamoDBClient(config)",
  options: {
    tableName: optional(checkTableName, "turnkeep"),
    partitionKey: optional(attribute, "pk"),
    sortKey: optional(attribute, "sk"),
    ttlAttribute: optional(attribute, "ttl"),
    prefix: optional(
      nameText({
        maxBytes: 512,
        // What follows the prefix in partition keys: a prefix that contains it could collide with a shorter one.
        forbidden: /memory:|owner:|newest:/,
        rule: 'without "memory:", "owner:" and "newest:"',
      }),
      "",
    ),
    ttlMs: optional(ttl),
    activityMs: optional(ttl, 60_000),
  } satisfies Fields<Omit<DynamoStoreOptions, keyof DynamoConnection>>,
};

/** Fills in the defaults. `INVALID_OPTION` for anything not documented above. */
export function normalizeOptions(options: DynamoStoreOptions): NormalOptions {
  const { connection, ttlMs, activityMs, ...table } = takeStoreOptions(options, rules);
  if (connection.url !== undefined) parseUrl(connection.url);
  checkApart(table);
  return { connection, table, timing: { ttlMs, activityMs } };
}

/** A table of another account is named by its ARN. */
function checkTableName(name: string, value: unknown): void {
  if (typeof value === "string" && /^[\w.:/-]{3,1024}$/.test(value)) return;
  throw invalidOption(`${name} must be the name or ARN of a table, not ${show(value)}`);
}

function checkApart({ partitionKey, sortKey, ttlAttribute }: TableNames): void {
  const taken = new Set(["", ...ownAttributes]);
  for (const [option, name] of Object.entries({ partitionKey, sortKey, ttlAttribute })) {
    if (taken.has(name)) {
      throw invalidOption(
        `${option} must not be ${show(name)}: it needs a name, and one that no other attribute of the items has`,
      );
    }
    taken.add(name);
  }
}
