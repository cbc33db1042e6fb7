import { modelMessageFormat } from "@turnkeep/core";
import { applyProcessors, tokenLimiter } from "@turnkeep/core/processors";
import { tokenCounter } from "@turnkeep/tokens";
import { readFileSync } from "node:fs";
const counter = await tokenCounter("o200k_base");
const all = JSON.parse(readFileSync("/tmp/hot-corpus.json","utf8"));
const freeze=(x)=>{ if(x&&typeof x==="object"){Object.freeze(x); Object.values(x).forEach(freeze);} return x;};

const p = tokenLimiter({ limit: 4000, counter });
const list=all.slice(0,5000);
for (let i=0;i<60;i++){ list.push(all[5000+i]); await applyProcessors(list,[p]); }
