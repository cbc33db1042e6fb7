import { existsSync } from "node:fs";

// What the environment sets already stays.
if (existsSync(".env")) process.loadEnvFile();
