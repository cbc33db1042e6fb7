export const usage: string = `turnkeep replay [FILE.jsonl ...]
turnkeep inspect --store STORE [MEMORY]

turnkeep replay

  Replays conversations through a chat memory and shows, turn by turn, what came in, what a model would
  be shown, what left the memory and why, and what history keeps. Half-way it stops, a second process
  opens the same store and goes on, and at the end everything in the store is compared with the file.

  FILE.jsonl holds one conversation a line: {"id": "...", "messages": [...]}, with messages in OpenAI's
  chat format or the AI SDK's. Without a file it replays conversations that come with the package.

  --max-tokens N      what the model may be shown, in tokens of o200k_base; default 600, none
                      with --max-messages
  --max-messages N    the same in messages; with both, both hold
  --unit UNIT         what leaves at once: step (default), turn or message
  --store STORE       where to keep them, see below; default: a temporary folder
  --run NAME          go on with an interrupted replay of that name; default: a new name, so that nothing
                      else in the store is touched
  --profile NAME      show what a provider accepts: openai, openai-responses, anthropic, gemini, bedrock,
                      mistral or strict
  --explain           after each turn, what became of each message, and by what
  -q, --quiet         one line a conversation instead of every turn

  Exit status: 0 when every line was replayed and nothing was lost, 1 when not, 2 for a wrong command line.

turnkeep inspect

  Lists the memories of a store; or shows what one of them holds, and which of its messages are live, evicted
  or superseded. It writes nothing to the store.

  --store STORE       where to look, see below
  --owner OWNER       only that owner's memories
  --limit N           no more memories, or newest messages, than that; default 50
  --all               all of them
  --json              one JSON value a line; messages whole, as they are stored

  Exit status: 0 when the memory was there, or for a list; 1 when not or when the store failed, 2 for a wrong command line.

STORE is one of
  a folder                         where an embedded Postgres keeps its data
  a file ending in .db or .sqlite  a database of SQLite's, with Node 22.13 or later
  postgres://user@host/database
  redis://, rediss://              with @turnkeep/store-redis and ioredis installed beside turnkeep
  mongodb://, mongodb+srv://       with @turnkeep/store-mongo and mongodb
  http://, https://                DynamoDB's endpoint, with @turnkeep/store-dynamo and @aws-sdk/client-dynamodb
  a file ending in .js or .mjs     whose default export is a store, or a function that answers one

-h, --help shows this text, -v, --version the version. Colours are used in a terminal; NO_COLOR turns them off.
`;
