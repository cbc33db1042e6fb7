import { invalidOption, show, TurnkeepError } from "@turnkeep/core/store-kit";
import type { Run, Statement } from "./client.ts";
import { indexable, ownAttributes } from "./items.ts";
import { nameOf, storeName } from "./refusals.ts";
import type { Table, TableNames } from "./table.ts";

interface Index {
  readonly IndexName?: string;
  readonly KeySchema?: readonly { readonly AttributeName?: string; readonly KeyType?: string }[];
}

interface Description extends Index {
  readonly TableStatus?: string;
  readonly MultiRegionConsistency?: string;
  readonly AttributeDefinitions?: readonly {
    readonly AttributeName?: string;
    readonly AttributeType?: string;
  }[];
  readonly GlobalSecondaryIndexes?: readonly Index[];
  readonly LocalSecondaryIndexes?: readonly Index[];
}

interface Expiry {
  readonly TimeToLiveDescription?: { readonly TimeToLiveStatus?: string; readonly AttributeName?: string };
}

/** How long a new table may take until it is active. */
const activeWithinMs = 5 * 60 * 1000;

/** Creates the table and its expiry as the options say, or checks existing ones. */
export async function migrate(table: Table, names: TableNames): Promise<void> {
  const { tableName, partitionKey, sortKey } = names;
  const { run } = table;
  if ((await described(run, tableName)) === undefined) {
    const create = {
      TableName: tableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [partitionKey, sortKey].map((AttributeName) => ({
        AttributeName,
        AttributeType: "S",
      })),
      KeySchema: [
        { AttributeName: partitionKey, KeyType: "HASH" },
        { AttributeName: sortKey, KeyType: "RANGE" },
      ],
    };
    // Another process may be creating it too.
    await run({ operation: "CreateTable", input: create }).catch(unless("ResourceInUseException"));
  }
  checkTable(names, await activeTable(table, tableName));
  await turnExpiryOn(run, names);
}

/** The table, once it can be used. */
async function activeTable(table: Table, tableName: string): Promise<Description> {
  const deadline = Date.now() + activeWithinMs;
  for (let waitMs = 50; ; waitMs = Math.min(2 * waitMs, 2_000)) {
    const found = await described(table.run, tableName);
    const status = found?.TableStatus;
    if (found !== undefined && (status === "ACTIVE" || status === "UPDATING")) return found;
    // Any other status than of a new table (archived, without its key, on the way to be deleted) does not pass soon.
    const isNew = found === undefined || status === "CREATING";
    if (!isNew || Date.now() > deadline) {
      const is = isNew ? `still ${status ?? "missing"}: wait` : `${status}: have it restored, or wait`;
      throw unfit(
        `the table ${show(tableName)} is ${is} until it is active or gone, then call migrate() again`,
      );
    }
    await table.pause(waitMs);
  }
}

/** `undefined`: there is no such table. */
async function described(run: Run, TableName: string): Promise<Description | undefined> {
  const describe: Statement<{ Table?: Description }> = { operation: "DescribeTable", input: { TableName } };
  return (await run(describe).catch(unless("ResourceNotFoundException")))?.Table;
}

function unfit(why: string): TurnkeepError {
  return new TurnkeepError("STORE_NOT_READY", `${storeName}: ${why}`);
}

function checkTable(table: TableNames, found: Description): void {
  const { tableName, partitionKey, sortKey } = table;
  if (found.MultiRegionConsistency === "STRONG") {
    throw unfit(
      `the table ${show(tableName)} has multi-Region strong consistency, and DynamoDB then refuses transactions: use a table of one Region, or a global table with eventual consistency`,
    );
  }
  const typeOf = (name: string | undefined): string | undefined =>
    found.AttributeDefinitions?.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
  for (const [option, name, type] of [
    ["partitionKey", partitionKey, "HASH"],
    ["sortKey", sortKey, "RANGE"],
  ] as const) {
    const key = found.KeySchema?.find(({ KeyType }) => KeyType === type)?.AttributeName;
    const kind = typeOf(key);
    if (key === name && kind === "S") continue;
    const is = key === undefined ? "has none" : `has ${show(key)} of type ${kind}`;
    throw invalidOption(
      `${option} must be ${show(name)}, a string (S), but the table ${show(tableName)} ${is}`,
    );
  }
  const { GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] } = found;
  for (const { IndexName = "", KeySchema = [] } of [...GlobalSecondaryIndexes, ...LocalSecondaryIndexes]) {
    for (const { AttributeName: name = "" } of KeySchema) {
      const kind = name === table.ttlAttribute ? "N" : indexable[name];
      if (kind === typeOf(name) || (kind === undefined && !ownAttributes.includes(name))) continue;
      const needs =
        kind === undefined ? "cannot be indexed, since it may be empty or long" : `is of type ${kind}`;
      throw unfit(
        `the index ${show(IndexName)} of the table ${show(tableName)} is on ${show(name)}, of type ${typeOf(name)}, which this store uses and which ${needs}: DynamoDB would refuse its items. Remove the index, or use another table`,
      );
    }
  }
}

async function turnExpiryOn(run: Run, { tableName: TableName, ttlAttribute }: TableNames): Promise<void> {
  const describe: Statement<Expiry> = { operation: "DescribeTimeToLive", input: { TableName } };
  const found = async (): Promise<string | undefined> => {
    const { TimeToLiveStatus, AttributeName } = (await run(describe)).TimeToLiveDescription ?? {};
    return TimeToLiveStatus === "ENABLED" || TimeToLiveStatus === "ENABLING" ? AttributeName : undefined;
  };
  let attribute = await found();
  if (attribute === undefined) {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: ttlAttribute };
    try {
      await run({ operation: "UpdateTimeToLive", input: { TableName, TimeToLiveSpecification } });
      return;
    } catch (error) {
      // Another process may have turned it on.
      attribute = await found();
      if (attribute === undefined) throw error;
    }
  }
  if (attribute !== ttlAttribute) {
    throw invalidOption(
      `ttlAttribute is ${show(ttlAttribute)}, but the expiry of the table ${show(TableName)} is on ${show(attribute)}`,
    );
  }
}

/** Returns `undefined` for that error of the driver. */
function unless(name: string): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && nameOf(error.cause) === name) return undefined;
    throw error;
  };
}
