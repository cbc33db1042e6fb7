/** What the hooks of `keyValueStore` must do, word for word as it stands in `KeyValueStoreOptions`. */
export const hookSentences = {
  get: "Returns the value under `key`, strongly consistent; `undefined` if there is none.",
  set: "Writes `value` if the entry under `key` still has that revision or, for `undefined`, if there is no entry. Returns `true` if it wrote, else `false`",
  setAtOnce: "The comparison and the write must be one atomic operation of the database.",
  revision:
    "Must never repeat for two values of one key, even if the key was deleted and written again in between",
  delete:
    "Deletes the entry under `key` if it still has that revision or, for `undefined`, whatever it is. Returns `true` if it deleted something, else `false`",
  deleteAtOnce: "The comparison and the deletion must be one atomic operation of the database.",
  keys: "Keys are memory ids as they are: 1 to 512 UTF-8 bytes of any Unicode except U+0000 and lone surrogates.",
  values: "Values are well-formed text without U+0000.",
  list: "Returns up to `limit` keys after the key `after` (which may have been deleted since), or the first keys, in an order that the database never changes.",
} as const;
