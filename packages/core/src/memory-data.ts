/** What JSON can say. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue | undefined };

/** New data of a memory, or what makes them of those that are there; it may be called more than once. */
export type DataChange = JsonValue | ((before: JsonValue | undefined) => JsonValue);
