import { readFile } from "node:fs/promises";
import type { PostgresClient } from "../src/index.ts";

const guide = new URL("../../../docs/postgres.md", import.meta.url);

/** Puts the messages into partitions by the hash of their memory's key, as the guide says. */
export async function partition(client: PostgresClient): Promise<void> {
  const [, sql] = /<!-- partitions -->\n```sql\n(.*?)```/s.exec(await readFile(guide, "utf8")) ?? [];
  if (sql === undefined) throw new Error("docs/postgres.md no longer says how messages are partitioned");
  await client.query(sql);
}
