import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

/** What a user of the published packages gets. It packs what `npm run build` made, so it runs after that. */
export default mergeConfig(shared, {
  test: {
    include: ["published/**/*.test.ts"],
    globalSetup: ["published/pack.ts"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
