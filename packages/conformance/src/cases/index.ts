import type { ConformanceCase } from "../case.ts";
import { atomicityCases } from "./atomicity.ts";
import { basicCases } from "./basic.ts";
import { conditionalDeletesCases } from "./conditional-deletes.ts";
import { contradictionsCases } from "./contradictions.ts";
import { correctionsCases } from "./corrections.ts";
import { countedCases } from "./counted.ts";
import { damageCases } from "./damage.ts";
import { deathsCases } from "./deaths.ts";
import { deletesCases } from "./deletes.ts";
import { racesElsewhereCases, seenElsewhereCases } from "./elsewhere.ts";
import { errorsCases } from "./errors.ts";
import { expiryRacesCases } from "./expiry-races.ts";
import { faultsCases, lostAnswersCases, toldFaultsCases } from "./faults.ts";
import { historyCases } from "./history.ts";
import { idsCases } from "./ids.ts";
import { isolationCases } from "./isolation.ts";
import { joinedIdsCases } from "./joined-ids.ts";
import { largeUpdatesCases } from "./large-updates.ts";
import { leftBehindCases, leftOpenCases } from "./left-behind.ts";
import { lifecycleCases } from "./lifecycle.ts";
import { listCases } from "./list.ts";
import { listNewestCases } from "./list-newest.ts";
import { listOwnersCases } from "./list-owners.ts";
import { listPagesCases } from "./list-pages.ts";
import { lostRecordsCases } from "./lost-records.ts";
import { modelCases } from "./model.ts";
import { orderCases } from "./order.ts";
import { payloadsCases } from "./payloads.ts";
import { readsUnderWayCases } from "./reads-under-way.ts";
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
  ...readsUnderWayCases,
  ...seenElsewhereCases,
  ...undefinedMembersCases,
  ...orderCases,
  ...atomicityCases,
  ...versionsCases,
  ...conditionalDeletesCases,
  ...racesElsewhereCases,
  ...largeUpdatesCases,
  ...replayCases,
  ...lostAnswersCases,
  ...statesCases,
  ...correctionsCases,
  ...historyCases,
  ...listCases,
  ...listPagesCases,
  ...listOwnersCases,
  ...listNewestCases,
  ...idsCases,
  ...joinedIdsCases,
  ...payloadsCases,
  ...sizesCases,
  ...countedCases,
  ...ttlCases,
  ...ttlLivesCases,
  ...expiryRacesCases,
  ...isolationCases,
  ...errorsCases,
  ...toldFaultsCases,
  ...leftBehindCases,
  ...contradictionsCases,
  ...damageCases,
  ...lostRecordsCases,
  ...deathsCases,
  ...faultsCases,
  ...deletesCases,
  ...lifecycleCases,
  ...leftOpenCases,
  ...modelCases,
];
