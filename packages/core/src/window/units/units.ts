import type { ProviderProfile } from "../../provider-profile.ts";
import type { WindowUnit } from "../../window-options.ts";
import { message } from "./message.ts";
import { step } from "./step.ts";
import { turn } from "./turn.ts";
import type { EvictionUnit } from "./unit.ts";

/** The units by the text that the option `unit` gives. */
export const units: Readonly<Record<WindowUnit, EvictionUnit>> = { step, turn, message };

/** The unit where the application names none. */
export function defaultUnit(profile: ProviderProfile | undefined): WindowUnit {
  return profile?.firstMessage === "user" ? "turn" : "step";
}
