import { type ConformanceGroup, cases } from "@turnkeep/conformance";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { withoutTheLongest } from "@turnkeep/store-tests";
import { inject } from "vitest";
import { dynamoStore } from "../src/index.ts";
import { dying, newClient, rawRead, rawRemove, rawWrite, serverAccess, useOwnTable } from "./support.ts";

/** Of many memories, their lives and sizes: some half of what the kit takes, and so a file of its own. */
export const ofMany: readonly ConformanceGroup[] = ["ids", "list", "sizes", "ttl"];

/** Registers the kit's cases of these groups, on a table of the file's own. */
export function describeGroups(isWanted: (group: ConformanceGroup) => boolean): void {
  const url = inject("dynamoUrl");
  const { tableName, client: watcher } = useOwnTable();

  describeConformance(
    "DynamoDB, by a url",
    {
      create: (options) => dynamoStore({ url, tableName, ...options }),
      rawRead: (memoryId) => rawRead(watcher, tableName, memoryId),
      rawWrite: (memoryId, texts) => rawWrite(watcher, tableName, memoryId, texts),
      rawRemove: (memoryId, index) => rawRemove(watcher, tableName, memoryId, index),
      fault: (options) => dynamoStore({ client: dying(watcher, options), tableName }),
      ...serverAccess({ url, tableName }, watcher),
      given() {
        const client = newClient(url);
        let isOpen = true;
        const destroy = client.destroy.bind(client);
        client.destroy = () => {
          isOpen = false;
          destroy();
        };
        return { store: dynamoStore({ client, tableName }), isOpen: () => isOpen };
      },
    },
    // DynamoDB Local takes half a minute for each of them. All cases: see CONTRIBUTING.md.
    { cases: withoutTheLongest(cases).filter(({ group }) => isWanted(group)) },
  );
}
