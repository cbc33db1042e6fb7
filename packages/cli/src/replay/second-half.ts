import type { TokenCounter } from "@turnkeep/core";
import { openPlace } from "../places/place.ts";
import { checkHistory } from "./check-history.ts";
import type { Settings } from "./options.ts";
import { type PlayedPart, playPart } from "./part.ts";
import type { Printer } from "./printer.ts";
import type { CheckReport } from "./report.ts";

/** What the second half tells the first. */
export interface SecondHalf {
  readonly part: PlayedPart;
  readonly check: CheckReport;
}

/** Opens the store, goes on where the first half stopped, and compares what the store holds with the files. */
export async function playSecondHalf(
  settings: Settings,
  store: string,
  counter: TokenCounter,
  printer: Printer,
): Promise<SecondHalf> {
  const place = await openPlace(store, "write");
  try {
    const part = await playPart(settings, place, counter, printer, Number.POSITIVE_INFINITY);
    return { part, check: await checkHistory(settings, place, counter) };
  } finally {
    await place.close();
  }
}
