import { expect, test } from "vitest";
import { dynamoWithout, parts } from "../src/stores/dynamo-parts.ts";

test.each(parts)("the DynamoDB store is built with this switched off: $name", async (part) => {
  expect(await dynamoWithout(part)).toHaveProperty("dynamoStore", expect.any(Function));
});
