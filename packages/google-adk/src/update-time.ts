import type { DataChange, JsonValue } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";

/** A session's last update stands in its memory's data, beside what the application says there. */
export function touched(lastUpdateTime: number): Extract<DataChange, (before: never) => unknown> {
  return (before) => (before === undefined || isObject(before) ? { ...before, lastUpdateTime } : before);
}

export function updateTimeOf(data: JsonValue | undefined): number | undefined {
  return isObject(data) && typeof data.lastUpdateTime === "number" ? data.lastUpdateTime : undefined;
}
