/** The sentences of the store contract that cases prove, word for word as they stand in `ChatMemoryStore`'s file. */
export const sentences = {
  live: "The live messages of one memory with its version and head.",
  unknown: "An unknown id is an empty snapshot, not an error.",
  absent:
    "`null`: no such memory (never was, deleted, or expired); then `nextSeq` is 1 and nothing else is given.",
  position: "Position; strictly increasing, never reused within a memory.",
  time: "Milliseconds since the epoch.",
  opaque: "JSON text, opaque to the store",
  version: "The version after it; unique, made by core.",
  owner: "Taken when the memory begins, ignored later.",
  head: "Absent: as it was.",
  headSize: "Core keeps it under 1 KB; 16 KB is the ceiling.",
  replace:
    "Live messages with a new payload, meta or `createdAt`, all stored as given; same `seq`, same `id`.",
  move: "may name a message just appended or replaced. `removed` deletes it.",
  backToLive: "Back to `live` happens only after a rewind or in a fork, so it may cost more.",
  states:
    "`live`: shown to the model. `evicted`: left memory for history. `superseded`: replaced, edited or regenerated.",
  keeps: "What leaves memory is kept, and `getHistory` reads it.",
  historyPage: "One page of everything that is kept, by `seq`.",
  greater: "Only messages with a greater `seq`.",
  smaller: "Only messages with a smaller `seq`.",
  limit: "1 to 1,000; default 100.",
  byIds: "Only these message ids; up to 1,000.",
  allStates: "Default: all.",
  list: "Misses no memory whose creation was acknowledged before the call.",
  cursor: "The cursor is stable.",
  ofOwner: "Only memories of this owner.",
  updatedAt: "`updatedAt`: milliseconds since the epoch.",
  atomic: "`updateMessages` is atomic: readers see all of it or none.",
  expected:
    "It applies only if the stored version is `expected`, otherwise it throws `VERSION_CONFLICT` and nothing has changed.",
  replay:
    "The same update sent twice is one update: while its `version` is in place, the second call succeeds; after another commit it is a `VERSION_CONFLICT`.",
  begins:
    "Versions are unique, so a memory that was deleted and began again never passes for the old one, and only an update that expects `null` begins a memory.",
  consistent: "`getMessages` is strongly consistent and a consistent snapshot.",
  known:
    "Where it is the present one, a store may leave the messages out and say `unchanged: true`; where it is not, the answer is as without it.",
  order: "Order is `seq`, never time.",
  paging:
    "A history page is not a snapshot; but a message that is not removed while a reader pages appears exactly once.",
  ids: "Memory ids and owners are 1 to 512 UTF-8 bytes, message ids 1 to 256, of well-formed Unicode without U+0000; anything else is `INVALID_OPTION`.",
  apart: "Two ids never share data.",
  tooLarge: "A message above `maxMessageBytes` is `MESSAGE_TOO_LARGE` before anything is written.",
  oneMegabyte:
    "A message of 1 MB (1,048,576 bytes) works in every store, and a hundred of them live at once.",
  largest: "The largest message, as UTF-8 bytes of `payload` and `meta` together.",
  invalid: "An update that is not as described is `INVALID_OPTION` before anything is written.",
  agrees:
    "So is one that contradicts what is stored: `nextSeq` never goes back, no `seq` is used again, what is replaced is live and keeps its id, what is moved is there.",
  ttl: "With `ttlMs`, a memory untouched by writes for so long is absent in every method at once.",
  prolong: "Each write prolongs the life of the whole memory.",
  earlierLife: "What belonged to an earlier life of an id never shows in a later one.",
  fresh: "Reads return fresh objects.",
  untouched:
    "Updates are not changed, and what a caller does to an argument after the call, or to what was returned, changes nothing stored.",
  signal:
    "Every call takes a `signal`: one that has fired before the call ends it with `ABORTED` and nothing is written; one that fires during an update leaves all of it or none.",
  errors:
    "Errors are `TurnkeepError`s with the driver's error as `cause`, and never hold content, passwords or keys.",
  corrupt: "One corrupt record does not hide the others: `CORRUPT_RECORD` names its id.",
  everyMethod:
    "Every method exists in every store; one that a store cannot serve is declared so in `capabilities` and answers `UNSUPPORTED`.",
  delete: "Deletes the memory and its history. Deleting what is not there succeeds.",
  sweep:
    "Removes what interrupted updates and expiry left behind; answers how many memories or records it removed.",
  close: "Idempotent. Closes only what the store opened; every later call is `CLOSED`.",
  shared: "Several clients see the same data.",
  durable: "What was acknowledged survives the process.",
} as const;
