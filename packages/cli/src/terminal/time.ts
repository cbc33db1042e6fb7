import { oneLine } from "./controls.ts";

/** `2026-11-23 09:05:00`, in UTC; what is no time is shown as it is. */
export function timeOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? oneLine(String(ms))
    : date.toISOString().slice(0, 19).replace("T", " ");
}
