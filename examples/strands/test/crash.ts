import { Agent, tool } from "@strands-agents/sdk";
import { createChatMemories } from "@turnkeep/core";
import { bedrockFormat } from "@turnkeep/formats/bedrock";
import { bedrock } from "@turnkeep/formats/profiles";
import { sqliteStore } from "@turnkeep/store-sqlite";
import { z } from "zod";
import { ScriptedModel } from "../src/scripted-model.ts";
import { TurnkeepPlugin } from "../src/turnkeep-plugin.ts";

/** One process: asks, and kills itself in the second tool, or tells what the model was shown first. */
const { file, question, dies } = JSON.parse(process.argv[2] as string);
const store = sqliteStore({ file });
await store.migrate();
const memories = createChatMemories({ store, format: bedrockFormat, profile: bedrock });
const toolOf = (name: string) =>
  tool({
    name,
    description: name,
    inputSchema: z.object({}),
    callback: () => (name === "second" ? process.kill(process.pid, "SIGKILL") && "" : "first done"),
  });
const model = dies
  ? new ScriptedModel({ name: "first", input: {} }, { name: "second", input: {} })
  : new ScriptedModel("Done.");
const plugins = [new TurnkeepPlugin(memories.get("chat-1"))];
const tools = ["first", "second"].map(toolOf);
await new Agent({ model, tools, plugins, printer: false }).invoke(question);
process.stdout.write(JSON.stringify(model.requests[0]?.map((message) => message.toJSON())));
await store.close();
