/** For properties of which a run is costly. */
export const fewerRuns: { readonly numRuns: number } = {
  numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 15),
};
