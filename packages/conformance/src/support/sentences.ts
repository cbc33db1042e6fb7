/** The sentences of the store contract that cases prove, word for word as they stand in `ChatMemoryStore`'s file. */
export const sentences = {
  live: "The live messages of one memory, its version and head.",
  unknown: "An unknown id gives an empty snapshot, no error.",
  absent:
    "`null`: no such memory (never was, deleted, or expired); then `nextSeq` is 1 and nothing else is set.",
  position: "Position: strictly increasing, never reused within a memory.",
  time: "Milliseconds since the epoch.",
  opaque: "JSON text, opaque to the store",
  version: "The version after the change: unique, made by core",
  owner: "The owner from now on. Absent: unchanged; none, for a memory that begins.",
  assigned:
    "An update may change the owner: from then on the memory is in the new owner's listing, and in the old one's no more.",
  head: "Absent: unchanged.",
  data: "what the application says about the conversation, 8 KB at most.",
  dataSize: "Absent: unchanged. 8 KB (8,192 UTF-8 bytes) at most.",
  headSize: "Core keeps it under 1 KB; 16 KB is the ceiling.",
  replace:
    "Live or evicted messages with a new payload, meta or `createdAt`, all stored as given; same `seq`, same `id`, and the state as it was.",
  move: "may name a message that this update appends or replaces. `removed` deletes it.",
  backToLive: "Moves back to `live` happen only after a rewind or in a fork, so they may cost more.",
  states:
    "`live`: shown to the model. `evicted`: left memory for history. `superseded`: replaced, edited or regenerated.",
  keeps: "Messages that leave memory are kept, and `getHistory` reads them.",
  historyPage: "One page of everything that is kept, by `seq`.",
  greater: "Only messages with a greater `seq`.",
  smaller: "Only messages with a smaller `seq`.",
  limit: "1 to 1,000; default 100.",
  byIds: "Only these message ids; up to 1,000.",
  allStates: "Default: all.",
  list: "The listing misses no memory whose creation was acknowledged before the call.",
  cursor: "The cursor of the order `stored` is stable.",
  foreignCursor:
    "A cursor that no page of this order gave is `INVALID_OPTION`, or another place than the start.",
  newest: "The order `newest` is by the last activity: writes of every kind.",
  activity: "a memory that begins, or whose last noted activity is older than that, comes first at once.",
  newestPages: "What is written while somebody pages may show twice or not.",
  ofOwner: "Only memories of this owner.",
  updatedAt: "`updatedAt`: milliseconds since the epoch.",
  atomic: "`updateMessages` is atomic: readers see all of it or none.",
  expected:
    "It applies only if the stored version is `expected`; otherwise it throws `VERSION_CONFLICT` and nothing has changed.",
  replay:
    "The same update sent twice is one update: while its `version` is in place, the second call succeeds; after another commit it is a `VERSION_CONFLICT`.",
  begins:
    "Versions are unique, so a memory that was deleted and begun again never passes for the old one. Only an update that expects `null` begins a memory.",
  consistent: "`getMessages` is strongly consistent and a consistent snapshot.",
  known:
    "If it is current, a store may leave the messages out and return `unchanged: true`; else the result is the same as without it.",
  order: "Order is `seq`, never time.",
  paging:
    "A history page is not a snapshot, but a message that is not removed while a reader pages appears exactly once.",
  ids: "Memory ids and owners are 1 to 512 UTF-8 bytes, message ids 1 to 256, of well-formed Unicode without U+0000; anything else is `INVALID_OPTION`.",
  apart: "Two ids never share data.",
  tooLarge: "A message above `maxMessageBytes` is `MESSAGE_TOO_LARGE` before anything is written.",
  oneMegabyte:
    "A message of 1 MB (1,048,576 bytes) works, and a hundred of them live at once, in every store that does not declare less.",
  memoryFull:
    "An update that would exceed `maxMemoryBytes` is `MEMORY_FULL` before anything is written; one that makes enough room applies.",
  anyNumber:
    "Numbers have no limit: not those of live messages, of changes in one update, of memories in a list, of what one sweep removes.",
  largest: "The largest message, as UTF-8 bytes of `payload` and `meta` together.",
  invalid: "An update that breaks the rules described here is `INVALID_OPTION` before anything is written.",
  agrees:
    "So is one that contradicts what is stored: `nextSeq` never decreases, no `seq` is reused, a replaced message has the state that the update says (live, or evicted) and keeps its id, a moved message exists.",
  ttl: "With `ttlMs`, a memory that nobody has written to for that long is absent from every method at once.",
  prolong: "Each write extends the life of the whole memory.",
  noSooner: "What looks at an expired memory, or removes it, spares the one that has begun in its place.",
  ownTtl:
    "Each write sets the expiry anew, by its own `ttlMs`, else by that of the client that makes it: none, if neither has one.",
  lifeOfOne:
    "How long the memory lives from this write on, in milliseconds, unless it is written to again; `null`: for ever.",
  clock: "The database's clock decides, where it has one.",
  earlierLife: "What belonged to an earlier life of an id never shows in a later one.",
  fresh: "Reads return new objects.",
  untouched:
    "A store does not change updates, and what a caller does to an argument after the call, or to a returned object, changes nothing stored.",
  checks:
    "A call says what stands in its way in one order, before the database is asked: `CLOSED`, `ABORTED`, a wrong memory id, other wrong arguments, `UNSUPPORTED`.",
  signal:
    "Every call takes a `signal`: one that fired before the call ends it with `ABORTED`, and nothing is written; one that fires during an update leaves all of it or none.",
  errors:
    "Errors are `TurnkeepError`s with the driver's error as `cause`, and never contain content, passwords or keys.",
  open: "`STORE_UNAVAILABLE` is only what is open, and may be repeated.",
  goesOn:
    "After a fault that passes, the client goes on as before; one that does not pass ends each call with an error.",
  leavesNothing: "A call that has ended leaves no listener on its `signal`, and one that failed no lock.",
  corrupt: "One corrupt record does not hide the others.",
  lost: "Where the record of a live message is gone or damaged, the message comes back in its place with an empty payload (`unreadableMessage` of the store kit), in `getMessages` and `getHistory` alike, and can be moved and replaced like any other.",
  gone: "What cannot be read of the memory itself is `CORRUPT_RECORD` with its id, and can be deleted.",
  everyMethod:
    "Every store has every method; one that it cannot serve is declared so in `capabilities` and throws `UNSUPPORTED`.",
  delete: "Deletes the memory and its history. Succeeds if there is none.",
  deleteExpected:
    "Deletes the memory only if this is its version. Another version is `VERSION_CONFLICT`, and nothing has changed; a memory that is not there is deleted already.",
  deleteNoVersion: 'What is no version, such as `""` or `null`, is `INVALID_OPTION`.',
  sweep:
    "Removes what interrupted updates and expiry left behind; returns how many memories or records it removed.",
  close: "Idempotent. Closes what the store opened, all of it and nothing else; later calls are `CLOSED`.",
  settings: "A client that it was given keeps its settings.",
  shared: "Several clients see the same data, in whatever process they are.",
  delta: "An append writes only the messages that it names.",
  readSteps: "The number of dependent round trips in a read.",
  durable: "Acknowledged writes survive the process.",
} as const;
