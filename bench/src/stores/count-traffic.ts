import { user } from "@turnkeep/core";
import { median } from "../measure.ts";
import type { Contender, Traffic, Window } from "./contender.ts";

/** What is counted. */
export const counted = ["append", "append + read", "read", "unchanged"] as const;

/** What each operation sends and receives: medians of five. */
export type OperationTraffic = Readonly<Record<(typeof counted)[number], Traffic>>;

/** Counts what the operations of one contender send and receive; `contender` goes by way of the counter, `writer` does not. */
export async function countTraffic(
  traffic: () => Traffic,
  contender: Contender,
  writer: Contender,
  name: string,
  window: Window,
): Promise<OperationTraffic> {
  const own = contender.open(name, window);
  const others = writer.open(name, window);
  const message = user("What does the second seat cost if we travel one day later? ".repeat(4));
  await own.read();
  await own.append(message);
  const found: Record<(typeof counted)[number], Traffic[]> = {
    append: [],
    "append + read": [],
    read: [],
    unchanged: [],
  };
  async function count(operation: (typeof counted)[number], run: () => Promise<unknown>): Promise<void> {
    traffic();
    await run();
    found[operation].push(traffic());
  }
  for (let round = 0; round < 5; round++) {
    await count("append", () => own.append(message));
    await count("append + read", async () => {
      await own.append(message);
      return own.read();
    });
    await others.append(message);
    await count("read", () => own.read());
    await count("unchanged", () => (own.readUnchanged ?? own.read)());
  }
  return Object.fromEntries(
    counted.map((operation) => [operation, medianOf(found[operation])]),
  ) as OperationTraffic;
}

function medianOf(all: readonly Traffic[]): Traffic {
  return {
    roundTrips: median(all.map(({ roundTrips }) => roundTrips)),
    bytesSent: median(all.map(({ bytesSent }) => bytesSent)),
    bytesReceived: median(all.map(({ bytesReceived }) => bytesReceived)),
  };
}
