import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Plugin } from 'vite';
import { runCommand } from './command.ts';

const help = `Writes the edge with everything that it needs into one file, bunting-edge.mjs, for machines without npm, and its part for
browsers into bunting-edge-worker.mjs, for Cloudflare Workers and Deno.

  npm run edge:bundle [-- FOLDER]    into FOLDER; default: dist
  node dist/bunting-edge.mjs

See docs/edge.md.`;

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

/** Writes a program and the licences of what it is made of. */
async function bundle(entry: string, file: string, { target }: { readonly target: 'node' | 'webworker' }) {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [inlineFiles],
    ssr: { noExternal: true, target },
    build: {
      ssr: path.join(root, 'apps/edge', entry),
      target: 'node22',
      outDir: path.dirname(file),
      emptyOutDir: false,
      license: { fileName: `${path.basename(file, '.mjs')}.licenses.md` },
      rolldownOptions: { output: { entryFileNames: path.basename(file), codeSplitting: false } },
    },
  });
}

await runCommand({ help, takesArguments: true }, async (_values, positionals) => {
  const outDir = path.resolve(positionals[0] ?? path.join(root, 'dist'));
  await bundle('src/main.ts', path.join(outDir, 'bunting-edge.mjs'), { target: 'node' });
  await bundle('src/worker/main.ts', path.join(outDir, 'bunting-edge-worker.mjs'), { target: 'webworker' });
});
