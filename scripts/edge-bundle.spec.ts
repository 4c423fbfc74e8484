import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually, reservePort } from '@bunting/testing';
import { afterEach, expect, it } from 'vitest';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

it('the edge is built into one file that serves without anything beside it', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'edge-bundle-'));
  stops.push(() => rm(folder, { recursive: true }));
  await promisify(execFile)(process.execPath, ['scripts/edge-bundle.ts', folder], {
    cwd: path.join(import.meta.dirname, '..'),
  });
  expect((await readdir(folder)).toSorted()).toEqual(
    ['bunting-edge-worker', 'bunting-edge'].flatMap((name) => [`${name}.licenses.md`, `${name}.mjs`]),
  );
  await writeFile(path.join(folder, 'features.json'), JSON.stringify({ version: 2, features: [] }));
  const port = await reservePort();
  const edge: ChildProcess = spawn(
    process.execPath,
    ['bunting-edge.mjs', 'offline', '--bootstrap-file', 'features.json', '--client-tokens', '*:development.x'],
    { cwd: folder, env: { PORT: String(port), INTERFACE: '127.0.0.1' }, stdio: 'ignore' },
  );
  const ended = once(edge, 'exit');
  stops.push(async () => {
    edge.kill();
    await ended;
  });
  await eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/client/features`, {
      headers: { authorization: '*:development.x' },
    });
    expect(await response.json()).toMatchObject({ features: [], query: { environment: 'development' } });
  });
  const health = await fetch(`http://127.0.0.1:${port}/internal-backstage/health`);
  expect(await health.json()).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string });
});
