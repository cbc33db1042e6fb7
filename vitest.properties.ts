import fc from "fast-check";

/** A property that names no number of runs of its own runs so often, instead of fast-check's hundred times. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS) });
