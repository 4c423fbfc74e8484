import { chmod, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually, recordingLog } from '@bunting/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { failingFiles } from '../../test/failing-files.ts';
import type { Files } from '../snapshots/checked-files.ts';
import { openTokenFile } from './token-file.ts';
import type { EdgeToken } from './token.ts';

const known: EdgeToken = { token: '*:development.wide', type: 'client', environment: 'development', projects: ['*'] };
const file = 'known.bunting-tokens';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function given(files?: Files) {
  const folder = await mkdtemp(path.join(tmpdir(), 'edge-tokens-'));
  stops.push(() => rm(folder, { recursive: true }));
  const { log, warnings } = recordingLog();
  const open = () => openTokenFile({ folder, log, ...(files === undefined ? {} : { files }) });
  const tokenFile = open();
  stops.push(() => tokenFile.close());
  return { folder, warnings, tokenFile, store: () => tokenFile.changed(() => [known]) };
}

describe('an edge that starts without its origin', () => {
  it('knows the tokens of the last run', async () => {
    const { tokenFile, store, folder } = await given();
    expect(await tokenFile.read()).toBeUndefined();
    store();
    await eventually(async () => expect(await tokenFile.read()).toEqual([known]));
    await eventually(async () => expect(await readdir(folder)).toEqual([file]));
  });

  it.each([
    ['a link to another file', (at: string) => rename(at, `${at}.moved`).then(() => symlink(`${at}.moved`, at))],
    ['a file that every user may write', (at: string) => chmod(at, 0o666)],
    [
      'a file that was changed',
      async (at: string) => writeFile(at, (await readFile(at, 'utf8')).replace('.wide', '.evil')),
    ],
    ['a file that was cut off', async (at: string) => writeFile(at, (await readFile(at, 'utf8')).slice(0, -5))],
  ])('does not believe %s', async (_, damage) => {
    const { tokenFile, store, folder, warnings } = await given();
    store();
    await tokenFile.close();
    await damage(path.join(folder, file));
    expect(await tokenFile.read()).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  it('knows those that could not be written at first', async () => {
    const { files, state } = failingFiles('ENOSPC');
    const { tokenFile, store, warnings } = await given(files);
    state.failing = 0;
    store();
    await eventually(() => expect(warnings).toHaveLength(1));
    state.failing = Number.POSITIVE_INFINITY;
    await eventually(async () => expect(await tokenFile.read()).toEqual([known]));
  });
});
