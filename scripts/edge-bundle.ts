// Writes the edge with everything that it needs into one file, dist/bunting-edge.mjs, for machines without npm: `node bunting-edge.mjs`.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Plugin } from 'vite';

const root = path.join(import.meta.dirname, '..');

/** Puts the text of files that modules read from beside them into the modules. */
const inlineFiles: Plugin = {
  name: 'inline-files',
  transform: (code, id) =>
    code.replace(
      /readFileSync\(new URL\((['"])(\.[^'"]+)\1, import\.meta\.url\), (['"])utf8\3\)/g,
      (_, _quote, file: string) => JSON.stringify(readFileSync(path.join(path.dirname(id), file), 'utf8')),
    ),
};

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  plugins: [inlineFiles],
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: path.join(root, 'apps/edge/src/main.ts'),
    target: 'node22',
    outDir: path.resolve(process.argv[2] ?? path.join(root, 'dist')),
    emptyOutDir: false,
    rolldownOptions: { output: { entryFileNames: 'bunting-edge.mjs', codeSplitting: false } },
  },
});
