import { describeConformance } from "@turnkeep/conformance/vitest";
import { driverGroups, partOfTheKit } from "@turnkeep/store-tests";
import { DynamoDBClient } from "dynamodb-oldest";
import { afterAll, beforeAll, inject, vi } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { configOf, newTable, newTableName } from "./support.ts";

// The store imports the driver by its name: here that is the oldest of the range, 3.0.0, itself.
vi.mock("@aws-sdk/client-dynamodb", () => import("dynamodb-oldest"));

const url = inject("dynamoUrl");
const tableName = newTableName();
let client: DynamoDBClient;

beforeAll(async () => {
  client = new DynamoDBClient(configOf(url));
  await newTable(url, { tableName });
});
afterAll(() => client.destroy());

// The other groups are about what the store does with what a driver answers, and take minutes.
describeConformance(
  "DynamoDB, by one client of the SDK's 3.0.0 that all stores share",
  { create: (options) => dynamoStore({ client, tableName, ...options }) },
  { groups: partOfTheKit(driverGroups) },
);
