/** Why unit `message` answers some recorded cases differently. `docs/langchain4j-windows.md` says the same in words. */
const askedOnce = "a limit that is a function is asked once a call, and not when the memory is made";
const everyAddLands = "two overlapping adds both land";

const inBoth: Readonly<Record<string, string>> = {
  "add-list-fails-midway-keeps-the-first-part": `an add of several is all or none, and ${askedOnce}`,
  "limit-asked-twice-per-add-first-answer-smaller": askedOnce,
  "limit-asked-twice-per-add-second-answer-bad-writes-nothing": askedOnce,
  "limit-sequence-set-asks-once": askedOnce,
  "race-loses-the-inner-message": everyAddLands,
  "race-loses-a-system-message": everyAddLands,
};

const inTokenWindows: Readonly<Record<string, string>> = {
  "list-estimate-larger-than-the-parts-evicts-too-much":
    "a counter has a base for a list, not a second count of each message that evictions do not give back",
};

/** The recorded cases that unit `message` answers differently on purpose, each with its reason. */
export function differencesOnPurpose(kind: string): ReadonlyMap<string, string> {
  return new Map(Object.entries({ ...inBoth, ...(kind === "token" ? inTokenWindows : {}) }));
}
