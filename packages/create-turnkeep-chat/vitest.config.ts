import { sharedByAlias } from "../../vitest.shared.ts";

export default sharedByAlias;
