// Builds the console into dist/web if a source is newer than the build. `npm start` loads this module before Bunting, because this
// repository has no install scripts. With --always it builds in any case; for `npm start -- --help` it does not build.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const projectFolder = import.meta.dirname;
const outputFolder = path.join(projectFolder, 'dist', 'web');

const sources = ['index.html', 'vite.config.ts', 'package.json', 'src/**/*', '../../libs/contracts/src/**/*.ts'];

const isStale = (): boolean => {
  if (!existsSync(path.join(outputFolder, 'index.html'))) return true;
  const builtAt = statSync(path.join(outputFolder, 'index.html')).mtimeMs;
  return sources.some((pattern) =>
    globSync(pattern, { cwd: projectFolder }).some(
      (file) => statSync(path.join(projectFolder, file)).mtimeMs > builtAt,
    ),
  );
};

const build = (): void => {
  const vite = path.join(path.dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js');
  // Builds into a folder of its own, which is then renamed, so that a server never serves half a build.
  const [newFolder, oldFolder] = [`${outputFolder}.${process.pid}.new`, `${outputFolder}.${process.pid}.old`];
  try {
    const options = ['build', '--logLevel', 'warn', '--emptyOutDir', '--outDir', newFolder];
    // The build is for production, whatever the caller's NODE_ENV is.
    const env = { ...process.env, NODE_ENV: 'production' };
    execFileSync(process.execPath, [vite, ...options], {
      cwd: projectFolder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (existsSync(outputFolder)) renameSync(outputFolder, oldFolder);
    renameSync(newFolder, outputFolder);
  } finally {
    for (const folder of [newFolder, oldFolder]) rmSync(folder, { recursive: true, force: true });
  }
};

if (!process.argv.includes('--help') && (process.argv.includes('--always') || isStale())) {
  console.log('Building the console …');
  try {
    build();
  } catch (error) {
    console.error(`The console could not be built: ${(error as Error).message}`);
    if (process.argv.includes('--always')) process.exitCode = 1;
  }
}
