import { modelMessageFormat } from "@turnkeep/core";
import { applyProcessors, tokenLimiter } from "@turnkeep/core/processors";
import { tokenCounter } from "@turnkeep/tokens";
import { readFileSync } from "node:fs";
const counter = await tokenCounter("o200k_base");
const all = JSON.parse(readFileSync("/tmp/hot-corpus.json","utf8"));
const freeze=(x)=>{ if(x&&typeof x==="object"){Object.freeze(x); Object.values(x).forEach(freeze);} return x;};
for (const n of [100,1000,5000]) for (const frozen of [true,false]) {
  const list = all.slice(0,n).map(m=>frozen?freeze(structuredClone(m)):m);
  const p = tokenLimiter({ limit: 4000, counter });
  const t=[];
  for (let i=0;i<60;i++){ list.push(frozen?freeze(structuredClone(all[n+i])):all[n+i]); const b=performance.now(); const s=await applyProcessors(list,[p]); t.push(performance.now()-b); if(i===59)console.log(n,frozen,s.length, t.slice(20).sort((a,b)=>a-b)[20].toFixed(2)); }
}
