/** Compiled by the type check, never run: what the options of counters refuse. */
import { boundCounter, tokenCounter } from "../../src/index.ts";

const media = { name: "flat", count: (): number => 100 };

export async function counters(): Promise<void> {
  await tokenCounter("o200k_base");
  await tokenCounter("o200k_base", { media });
  await boundCounter("anthropic", { media: undefined });
  // @ts-expect-error a misspelt option
  await tokenCounter("o200k_base", { medai: media });
  // @ts-expect-error a rule without its name
  await tokenCounter("o200k_base", { media: { count: () => 100 } });
  // @ts-expect-error a misspelt option
  await boundCounter("anthropic", { images: media });
}
