/** Hooks of `keyValueStore` that answer at once. */
export interface MapHooks {
  get(key: string): { value: string; revision: string } | undefined;
  compareAndSet(key: string, value: string, revision: string | undefined): boolean;
  delete(key: string, revision: string | undefined): boolean;
  list(page: { readonly after?: string | undefined; readonly limit: number }): string[];
}

/** Hooks over a map, in which a value is its own revision. */
export function mapHooks(values: Map<string, string>): MapHooks {
  return {
    get(key) {
      const value = values.get(key);
      return value === undefined ? undefined : { value, revision: value };
    },
    compareAndSet(key, value, revision) {
      if (values.get(key) !== revision) return false;
      values.set(key, value);
      return true;
    },
    delete: (key, revision) => (revision === undefined || values.get(key) === revision) && values.delete(key),
    list: ({ after, limit }) =>
      [...values.keys()]
        .sort()
        .filter((key) => after === undefined || key > after)
        .slice(0, limit),
  };
}
