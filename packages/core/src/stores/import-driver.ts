import { errorCode, invalidOption } from "./store-errors.ts";

/**
 * A store's driver, an optional peer that is imported where a URL or a configuration is given.
 *
 * Errors: `INVALID_OPTION` that names `packageName` if it is not installed; else what the import throws.
 *
 * @example
 * ```ts no-check
 * import { importDriver } from "@turnkeep/core/store-kit";
 *
 * const { Pool } = await importDriver("pg", import("pg"));
 * ```
 */
export async function importDriver<Driver>(packageName: string, driver: Promise<Driver>): Promise<Driver> {
  try {
    return await driver;
  } catch (cause) {
    if (errorCode(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw invalidOption(
      `url and config need the driver "${packageName}": install it, or give the store a client`,
    );
  }
}
