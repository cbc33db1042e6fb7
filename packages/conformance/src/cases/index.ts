import type { ConformanceCase } from "../case.ts";
import { atomicityCases } from "./atomicity.ts";
import { basicCases } from "./basic.ts";
import { conditionalDeletesCases } from "./conditional-deletes.ts";
import { contradictionsCases } from "./contradictions.ts";
import { damageCases } from "./damage.ts";
import { deathsCases } from "./deaths.ts";
import { deletesCases } from "./deletes.ts";
import { errorsCases } from "./errors.ts";
import { historyCases } from "./history.ts";
import { idsCases } from "./ids.ts";
import { isolationCases } from "./isolation.ts";
import { joinedIdsCases } from "./joined-ids.ts";
import { largeUpdatesCases } from "./large-updates.ts";
import { lifecycleCases } from "./lifecycle.ts";
import { listCases } from "./list.ts";
import { listPagesCases } from "./list-pages.ts";
import { lostRecordsCases } from "./lost-records.ts";
import { modelCases } from "./model.ts";
import { orderCases } from "./order.ts";
import { payloadsCases } from "./payloads.ts";
import { replayCases } from "./replay.ts";
import { sizesCases } from "./sizes.ts";
import { statesCases } from "./states.ts";
import { ttlCases } from "./ttl.ts";
import { ttlLivesCases } from "./ttl-lives.ts";
import { undefinedMembersCases } from "./undefined-members.ts";
import { versionsCases } from "./versions.ts";

/**
 * Every case of the kit, by group. Data and functions: bind them to another test runner, or look a sentence up.
 *
 * @example
 * ```ts
 * import { cases } from "@turnkeep/conformance";
 *
 * for (const { group, name, sentence } of cases) console.log(`${group}: ${name} (${sentence})`);
 * ```
 */
export const cases: readonly ConformanceCase[] = [
  ...basicCases,
  ...undefinedMembersCases,
  ...orderCases,
  ...atomicityCases,
  ...versionsCases,
  ...conditionalDeletesCases,
  ...largeUpdatesCases,
  ...replayCases,
  ...statesCases,
  ...historyCases,
  ...listCases,
  ...listPagesCases,
  ...idsCases,
  ...joinedIdsCases,
  ...payloadsCases,
  ...sizesCases,
  ...ttlCases,
  ...ttlLivesCases,
  ...isolationCases,
  ...errorsCases,
  ...contradictionsCases,
  ...damageCases,
  ...lostRecordsCases,
  ...deathsCases,
  ...deletesCases,
  ...lifecycleCases,
  ...modelCases,
];
