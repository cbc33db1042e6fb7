// npm install @turnkeep/core @turnkeep/store-postgres pg
// DATABASE_URL=postgres://… npx tsx main.ts

import { assistant, createChatMemory, user } from "@turnkeep/core";
import { postgresStore } from "@turnkeep/store-postgres";

const store = postgresStore({ url: process.env.DATABASE_URL ?? "postgres://localhost/chat" });
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
