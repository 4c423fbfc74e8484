// Builds the console into dist/web if it was built from other sources. `npm start` loads this module before Bunting, because this
// repository has no install scripts. With --always it builds in any case; for `npm start -- --help` it does not build.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const projectFolder = import.meta.dirname;
const outputFolder = path.join(projectFolder, 'dist', 'web');
/** The hash of the sources of the build. Not times of files, which say nothing of a build that was copied or restored from a cache. */
const hashFile = `${outputFolder}.sources`;

const sources = [
  'index.html',
  'vite.config.ts',
  'package.json',
  'src/**/*',
  '../../libs/contracts/src/**/*.ts',
  '../../package-lock.json',
];

const hashOfSources = (): string => {
  const hash = createHash('sha256');
  for (const file of globSync(sources, { cwd: projectFolder }).sort()) {
    const source = path.join(projectFolder, file);
    if (statSync(source).isFile()) hash.update(`${file}\0`).update(readFileSync(source)).update('\0');
  }
  return hash.digest('hex');
};

const isStale = (): boolean =>
  !existsSync(path.join(outputFolder, 'index.html')) ||
  !existsSync(hashFile) ||
  readFileSync(hashFile, 'utf8') !== hashOfSources();

/** The files below a folder, by their paths in it. */
const filesIn = (folder: string): string[] =>
  globSync('**/*', { cwd: folder }).filter((file) => statSync(path.join(folder, file)).isFile());

/**
 * Replaces a build by a new one, file by file: the page comes last, so that a server that runs meanwhile never sends one whose files are
 * missing. What only the earlier build had is then removed, unless another build has put it there meanwhile.
 */
const install = (newFolder: string): void => {
  const inodeOf = (file: string): bigint | undefined =>
    statSync(path.join(outputFolder, file), { bigint: true, throwIfNoEntry: false })?.ino;
  mkdirSync(outputFolder, { recursive: true });
  const earlier = new Map(filesIn(outputFolder).map((file) => [file, inodeOf(file)]));
  const files = filesIn(newFolder);
  const isPage = (file: string): boolean => file.startsWith('index.html');
  for (const file of files.toSorted((one, other) => Number(isPage(one)) - Number(isPage(other)))) {
    mkdirSync(path.dirname(path.join(outputFolder, file)), { recursive: true });
    renameSync(path.join(newFolder, file), path.join(outputFolder, file));
    earlier.delete(file);
  }
  for (const [file, inode] of earlier)
    if (inodeOf(file) === inode) rmSync(path.join(outputFolder, file), { force: true });
};

const build = (): void => {
  const vite = path.join(path.dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js');
  const newFolder = `${outputFolder}.${process.pid}.new`;
  try {
    // What changes meanwhile is built the next time.
    const hash = hashOfSources();
    const options = ['build', '--logLevel', 'warn', '--emptyOutDir', '--outDir', newFolder];
    // The build is for production, whatever the caller's NODE_ENV is.
    const env = { ...process.env, NODE_ENV: 'production' };
    execFileSync(process.execPath, [vite, ...options], {
      cwd: projectFolder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    rmSync(hashFile, { force: true });
    install(newFolder);
    writeFileSync(hashFile, hash);
  } finally {
    rmSync(newFolder, { recursive: true, force: true });
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
