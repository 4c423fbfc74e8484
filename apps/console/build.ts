// Builds the console into dist/web when a source is newer than the build. `npm start` preloads this module, because no install
// script of this repository runs; with --always it builds in any case, and for `npm start -- --help` it does not.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const here = import.meta.dirname;
const built = path.join(here, 'dist', 'web');

const sources = ['index.html', 'vite.config.ts', 'package.json', 'src/**/*', '../../libs/contracts/src/**/*.ts'];

const isStale = (): boolean => {
  if (!existsSync(path.join(built, 'index.html'))) return true;
  const builtAt = statSync(path.join(built, 'index.html')).mtimeMs;
  return sources.some((pattern) =>
    globSync(pattern, { cwd: here }).some((file) => statSync(path.join(here, file)).mtimeMs > builtAt),
  );
};

const findVite = (): string | undefined => {
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js');
  } catch {
    return undefined;
  }
};

const build = (vite: string): void => {
  // Built aside and moved into place, so that a server never serves half a build.
  const [made, old] = [`${built}.${process.pid}.new`, `${built}.${process.pid}.old`];
  try {
    const options = ['build', '--logLevel', 'warn', '--emptyOutDir', '--outDir', made];
    // Whatever the caller's NODE_ENV is, what is served is the build for production.
    const env = { ...process.env, NODE_ENV: 'production' };
    execFileSync(process.execPath, [vite, ...options], { cwd: here, env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (existsSync(built)) renameSync(built, old);
    renameSync(made, built);
  } finally {
    for (const folder of [made, old]) rmSync(folder, { recursive: true, force: true });
  }
};

if (!process.argv.includes('--help') && (process.argv.includes('--always') || isStale())) {
  const vite = findVite();
  if (vite === undefined) {
    console.error('The console is not built, because Vite is not installed: npm ci without --omit=dev installs it.');
  } else {
    try {
      build(vite);
    } catch (error) {
      console.error(`The console could not be built: ${(error as Error).message}`);
      if (process.argv.includes('--always')) process.exitCode = 1;
    }
  }
}
