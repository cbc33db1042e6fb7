// A process of its own over the built store, as an application has it: it cannot read TypeScript on Node 20.
import { randomUUID } from "node:crypto";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { mariaDbStore } from "../dist/index.js";

const [url, work, count, index] = process.argv.slice(2);
const store = mariaDbStore({ url });

function append(expected, id, seq) {
  const change = {
    append: [{ id, seq, createdAt: 0, payload: "{}" }],
    replace: [],
    move: [],
    nextSeq: seq + 1,
  };
  return { expected, version: randomUUID(), ...change };
}

/** Whether the update came first. */
async function isFirst(memoryId, update) {
  try {
    await store.updateMessages(memoryId, update);
    return true;
  } catch (error) {
    if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    return false;
  }
}

async function land(id) {
  for (;;) {
    const { version, nextSeq } = await store.getMessages("crowded");
    if (await isFirst("crowded", append(version, id, nextSeq))) return;
  }
}

async function beginAll() {
  let begun = 0;
  for (let number = 0; number < Number(count); number++) {
    if (await isFirst(`contested-${number}`, append(null, `${index}`, 1))) begun++;
  }
  return begun;
}

try {
  let answer = "done";
  if (work === "migrate") await store.migrate();
  else if (work === "begin") answer = String(await beginAll());
  else for (let number = 0; number < Number(count); number++) await land(`${index}-${number}`);
  await store.close();
  process.send(answer);
} catch (error) {
  process.send(`${error} ${error.cause}`);
} finally {
  process.disconnect();
}
