import { build } from 'vite';
const r=await build({ configFile:'/work/main/apps/console/vite.config.ts', logLevel:'silent', build:{ write:false, outDir:'/tmp/anout' }, plugins:[{name:'stop',apply:'build',generateBundle(){}}] });
const out=r.output??r[0].output;
const pkg=id=>{const m=/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id); if(m) return m[1]; const c=/libs\/([^/]+)/.exec(id); if(c) return 'libs/'+c[1]; return id.includes('/src/')?'src/'+id.split('/src/')[1].split('/').slice(0,1)[0]:id};
for(const c of out.filter(c=>c.type==='chunk')){
  if(!process.argv.slice(2).some(n=>c.fileName.includes(n))) continue;
  const by={}; for(const [id,m] of Object.entries(c.modules)) by[pkg(id)]=(by[pkg(id)]??0)+m.renderedLength;
  console.log(c.fileName,c.code.length,c.isEntry, Object.entries(by).sort((a,b)=>b[1]-a[1]).slice(0,22).map(([k,v])=>k+':'+(v/1000).toFixed(0)).join(' '));
}
