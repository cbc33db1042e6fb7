declare module "better-sqlite3" {
  /** What the tests use of it; its own types are another package's. */
  export default class Database {
    constructor(file: string);
    exec(sql: string): this;
    defaultSafeIntegers(): this;
    prepare(sql: string): {
      readonly reader: boolean;
      all(...values: unknown[]): unknown[];
      run(...values: unknown[]): unknown;
    };
    readonly memory: boolean;
  }
}
