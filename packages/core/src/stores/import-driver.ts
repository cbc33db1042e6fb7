import { errorCode, invalidOption } from "./store-errors.ts";

/** What Node says of a package that is not there, and what the code of bundlers does. */
const notFound: readonly string[] = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"];

/**
 * What to throw where the import of a store's driver failed, an optional peer that is imported where a URL or a
 * configuration is given: `INVALID_OPTION` that names `packageName` if it is not installed, else `cause` as it is. A store
 * that cannot do without its driver gives its own name.
 *
 * Let the import stand inside of a `try`, as here: bundlers (esbuild, webpack, Next.js, Bun) then leave a driver that is
 * not installed to the moment when it is wanted. Anywhere else it ends the build of whoever gives the store a client.
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
