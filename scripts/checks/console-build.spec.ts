import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = mkdtempSync(path.join(tmpdir(), 'bunting-console-'));
const consoleFolder = path.join(repository, 'apps/console');
const source = path.join(consoleFolder, 'src/main.tsx');
const built = path.join(consoleFolder, 'dist/web/index.html');

/** A bundler whose build is the source, so that what was built shows from what. */
const bundler = `
  const outDir = process.argv.at(-1);
  const { copyFileSync, mkdirSync } = require('node:fs');
  mkdirSync(outDir, { recursive: true });
  copyFileSync('src/main.tsx', outDir + '/index.html');`;

beforeAll(() => {
  const vite = path.join(consoleFolder, 'node_modules/vite');
  for (const folder of [path.join(vite, 'bin'), path.dirname(source)]) mkdirSync(folder, { recursive: true });
  cpSync(path.join(import.meta.dirname, '../../apps/console/build.ts'), path.join(consoleFolder, 'build.ts'));
  writeFileSync(path.join(consoleFolder, 'package.json'), '{ "type": "module" }');
  writeFileSync(path.join(vite, 'package.json'), '{}');
  writeFileSync(path.join(vite, 'bin/vite.js'), bundler);
  writeFileSync(source, 'the first');
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

/** What `npm start` does before Bunting. @returns whether it has built the console */
const start = (): boolean =>
  execFileSync(process.execPath, [path.join(consoleFolder, 'build.ts')], { encoding: 'utf8' }).includes('Building');

describe('the build of the console', () => {
  it('is made once for the same sources, whatever the times of their files', () => {
    start();
    utimesSync(source, new Date(), new Date(Date.now() + 3_600_000));
    expect([start(), readFileSync(built, 'utf8')]).toEqual([false, readFileSync(source, 'utf8')]);
  });

  it('is made again for other sources, also when it is newer than these, as one that a cache has restored', () => {
    start();
    writeFileSync(source, 'the second');
    utimesSync(source, new Date(0), new Date(0));
    expect([start(), readFileSync(built, 'utf8')]).toEqual([true, 'the second']);
  });

  it('is made again where a source was removed', () => {
    const removed = path.join(consoleFolder, 'src/removed.ts');
    writeFileSync(removed, '');
    expect(start()).toBe(true);
    rmSync(removed);
    expect([start(), start()]).toEqual([true, false]);
  });
});
