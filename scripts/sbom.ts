import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './command.ts';
import { readLockFile, billOfMaterials } from './supply/bill-of-materials.ts';

const help = `Writes a bill of materials (CycloneDX 1.6) from the lock file.

  npm run sbom [-- --out FILE]

  --out FILE   output file (default sbom.cdx.json)

It sends no requests. Development dependencies have the scope "excluded".`;

await runCommand({ help, options: { out: { type: 'string', default: 'sbom.cdx.json' } } }, (values) => {
  const bom = billOfMaterials(readLockFile(path.join(import.meta.dirname, '..')));
  writeFileSync(values.out, `${JSON.stringify(bom, null, 2)}\n`);
  const requiredCount = bom.components.filter(({ scope }) => scope === 'required').length;
  console.log(`${values.out}: ${bom.components.length} components, ${requiredCount} of them in what runs.`);
});
