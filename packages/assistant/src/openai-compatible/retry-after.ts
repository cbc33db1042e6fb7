/**
 * How long a server asks to wait before the next request, in whole milliseconds: by `retry-after-ms`, which OpenAI and Azure
 * send, else by `Retry-After` of RFC 9110, seconds or a date. `undefined` where it says nothing that can be read.
 */
export function retryAfterMs(headers: Headers, now: number = Date.now()): number | undefined {
  const precise = headers.get("retry-after-ms");
  const rough = headers.get("retry-after");
  const given = [
    precise === null ? Number.NaN : Number(precise),
    rough === null ? Number.NaN : Number(rough) * 1000,
    rough === null ? Number.NaN : Date.parse(rough) - now,
  ];
  const ms = given.find((each) => Number.isFinite(each));
  return ms === undefined ? undefined : Math.max(0, Math.ceil(ms));
}
