import { readFileSync } from "node:fs";
const p = JSON.parse(readFileSync(process.argv[2],"utf8"));
const self=new Map(), nodes=new Map(p.nodes.map(n=>[n.id,n]));
const dt=p.timeDeltas; let total=0;
p.samples.forEach((id,i)=>{ const n=nodes.get(id); const k=`${n.callFrame.functionName||"(anon)"} ${n.callFrame.url.split("/").slice(-2).join("/")}:${n.callFrame.lineNumber+1}`; self.set(k,(self.get(k)??0)+dt[i]); total+=dt[i];});
for (const [k,v] of [...self].sort((a,b)=>b[1]-a[1]).slice(0,Number(process.argv[3]??50))) console.log((100*v/total).toFixed(1).padStart(5), k);
