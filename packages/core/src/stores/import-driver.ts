import { errorCode, invalidOption } from "../errors.ts";

/** The error codes of Node and of bundlers for a missing package. */
const notFound: readonly string[] = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"];

/**
 * What to throw if importing a store's driver failed. A driver is an optional peer, imported when a URL or a
 * configuration is given. If it is not installed, this is `INVALID_OPTION` that names `packageName`; otherwise it is
 * `cause` as it is. A store that always needs its driver passes its own name as `store`.
 *
 * Put the import inside a `try`, as here: bundlers (esbuild, webpack, Next.js, Bun) then resolve a missing driver only
 * when it is needed. Anywhere else it breaks the build of everybody who passes a client.
 *
 * @example
 * ```ts no-check
 * import { importError } from "@turnkeep/core/store-kit";
 *
 * async function driver() {
 *   try {
 *     return await import("pg");
 *   } catch (cause) {
 *     throw importError("pg", cause);
 *   }
 * }
 * ```
 */
export function importError(packageName: string, cause: unknown, store?: string): unknown {
  if (!notFound.includes(errorCode(cause))) return cause;
  return invalidOption(
    store === undefined
      ? `url and config need the driver "${packageName}": install it, or give the store a client`
      : `${store} needs the driver "${packageName}": install it`,
  );
}
