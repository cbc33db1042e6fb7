// A process of its own over the built store, as an application has it: it cannot read TypeScript on Node 20.
import { randomUUID } from "node:crypto";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { sqliteStore } from "../dist/index.js";

const [url, work, count, index] = process.argv.slice(2);
const store = sqliteStore({ url });

async function append(id) {
  for (;;) {
    const { version, nextSeq } = await store.getMessages("crowded");
    const message = { id, seq: nextSeq, createdAt: 0, payload: "{}" };
    const change = { append: [message], replace: [], move: [], nextSeq: nextSeq + 1 };
    try {
      return await store.updateMessages("crowded", { expected: version, version: randomUUID(), ...change });
    } catch (error) {
      if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    }
  }
}

try {
  if (work === "migrate") await store.migrate();
  else for (let number = 0; number < Number(count); number++) await append(`${index}-${number}`);
  await store.close();
  process.send("done");
} catch (error) {
  process.send(`${error} ${error.cause}`);
} finally {
  process.disconnect();
}
