/**
 * Small HTTP servers on this machine that speak the protocols of model providers: requests are checked as the providers
 * check them, answers come whole or streamed. What they say is made by rule. They prove that a client and a server of the
 * protocol understand each other, not that a provider's own servers do what its documentation says.
 */
export { anthropicServer } from "./anthropic.ts";
export { type Conversation, type Said, weatherBot } from "./bot.ts";
export { openaiServer } from "./openai.ts";
export { type ProgramRun, runProgram } from "./run-program.ts";
export { type ModelServer, type Received, type Reply, startServer } from "./server.ts";
