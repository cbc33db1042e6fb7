import { createChatMemory, inMemoryStore, modelMessageFormat } from "@turnkeep/core";
import { tokenCounter } from "@turnkeep/tokens";
import { readFileSync } from "node:fs";
const counter = await tokenCounter("o200k_base");
const all = JSON.parse(readFileSync("/tmp/hot-corpus.json","utf8"));
const count = (m) => counter.count(m, modelMessageFormat);
const N = Number(process.argv[2] ?? 4000);
const memory = createChatMemory({ id:"c", store: inMemoryStore(), window: { maxTokens: 4000, counter: { name: "o200k", count } } });
const base = all.slice(0,1000), rest = all.slice(1000);
await memory.add(...base);
const list = [...base], known = base.map(count);
function floor(m){ list.push(m); known.push(count(m)); let from=list.length; for(let room=4000; from>0; from--){ room-=known[from-1]; if(room<0)break;} return list.slice(from).length; }
const T={f:[],o:[],a:[],r:[]};
const med=(a)=>{a.sort((x,y)=>x-y);return a[a.length>>1]};
for (let i=0;i<N;i++){ const m=rest[i%rest.length];
 for (let k=0;k<2;k++){ if ((i+k)%2){ const b=performance.now(); floor(m); T.f.push(performance.now()-b);} else { const b=performance.now(); await memory.add(m); const c=performance.now(); await memory.messages(); const d=performance.now(); T.o.push(d-b);T.a.push(c-b);T.r.push(d-c);} } }
const h=(a)=>med(a.slice(a.length>>1));
const [f,o,a,r]=[h(T.f),h(T.o),h(T.a),h(T.r)];
console.log(`floor ${f.toFixed(4)} ours ${o.toFixed(4)} (add ${a.toFixed(4)} read ${r.toFixed(4)}) ratio ${(o/f).toFixed(2)}`);
