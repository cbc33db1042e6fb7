import type { FiguresBySize } from "./by-size.ts";
import type { Throughput } from "./concurrent.ts";

/** What was measured of one database. */
export interface Measured extends FiguresBySize {
  readonly name: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly throughput: readonly (Throughput & { readonly name: string })[];
}
