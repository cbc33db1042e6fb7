// npm install @turnkeep/core @turnkeep/store-sqlite libsql
// npx tsx main.ts

import { assistant, createChatMemory, user } from "@turnkeep/core";
import { sqliteStore } from "@turnkeep/store-sqlite";
import Database from "libsql";

// From Node 22.13 on, sqliteStore({ file: "chat.db" }) needs no driver.
const client = new Database(process.env.CHAT_FILE ?? "chat.db");
client.exec("pragma journal_mode = wal");
const store = sqliteStore({ client });
await store.migrate();

// Of each conversation the model sees the newest four messages; the others stay in its history.
const memory = createChatMemory({ id: "user-1/chat-1", store, window: { maxMessages: 4 } });
await memory.clear();
await memory.add(user("Which rooms are free?"), assistant("Two: the attic and the garden room."));
await memory.add(user("The attic, please."), assistant("Booked: the attic, from Friday on."));
await memory.add(user("Is breakfast included?"), assistant("Yes, until ten."));

console.log("The model sees:");
for (const { role, content } of await memory.messages()) console.log(`  ${role}: ${content}`);
console.log("All that was said:");
const { messages } = await memory.history({ limit: 20 });
for (const { state, message } of messages) console.log(`  ${state} ${message.role}: ${message.content}`);

await store.close();
client.close();
