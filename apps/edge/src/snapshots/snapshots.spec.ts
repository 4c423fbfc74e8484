import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as nodeFiles from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually, recordingLog } from '@bunting/testing';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { failingFiles } from '../../test/failing-files.ts';
import { listedSegment, listOf } from '../../test/listed-segment.ts';
import { listsOfTest } from '../../test/lists-of-test.ts';
import { flag } from '../../test/simulated-origin.ts';
import { OriginFeature } from '../origin-feature.ts';
import type { OriginState } from '../origin-state.ts';
import type { Files } from './checked-files.ts';
import { openSnapshots, type SnapshotOptions, snapshotName } from './snapshots.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const token = 'default:development.secret-of-the-token';
function stateAt(revision: number, more: Partial<OriginState> = {}): OriginState {
  return {
    token,
    environment: 'development',
    projects: ['*'],
    revision,
    historyFrom: 0,
    entityTag: '"a"',
    features: [new OriginFeature(flag(`at-${revision}`, 'ß'.repeat(revision)) as never)],
    segments: [],
    fetchedAt: new Date(0),
    ...more,
  };
}

async function folderOfTest(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'snapshots-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function open(folder: string, files?: Files, { lists = listsOfTest(), ...more }: Partial<SnapshotOptions> = {}) {
  const { log, warnings } = recordingLog();
  const metrics = new Registry();
  const snapshots = openSnapshots({
    folder,
    lists,
    log,
    metrics,
    minIntervalMs: 0,
    ...more,
    ...(files === undefined ? {} : { files }),
  });
  stops.push(() => snapshots.close());
  const metric = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values[0]?.value;
  return { snapshots, warnings, metric };
}

it('a restart finds the last state, which only this user can read, under a name without the token', async () => {
  const folder = await folderOfTest();
  const { snapshots } = open(folder);
  await snapshots.write(stateAt(1));
  await snapshots.write(stateAt(2));
  await snapshots.close();
  expect(await open(folder).snapshots.read()).toEqual([stateAt(2)]);
  const names = await readdir(folder);
  expect(names).toEqual([snapshotName(token)]);
  expect(names.join()).not.toContain('secret');
  expect((await stat(path.join(folder, names[0] as string))).mode & 0o777).toBe(0o600);
});

it('a token that is given up leaves nothing behind', async () => {
  const folder = await folderOfTest();
  const { snapshots } = open(folder);
  await snapshots.write(stateAt(1));
  await snapshots.remove(token);
  await snapshots.close();
  expect(await readdir(folder)).toEqual([]);
});

it.each<[string, RegExp, (file: string) => Promise<unknown>]>([
  ['empty', /is no bunting-snapshot/, (file) => writeFile(file, '')],
  ['of another program', /has no header/, (file) => writeFile(file, 'hello\nworld')],
  ['JSON of another program', /is no bunting-snapshot/, (file) => writeFile(file, '{"format":"edge"}\n{}')],
  ['truncated', /has \d+ of \d+ bytes/, async (file) => writeFile(file, (await readFile(file)).subarray(0, -10))],
  [
    'corrupt in one bit',
    /its checksum differs/,
    async (file) => {
      const content = await readFile(file);
      content[content.length - 5] = (content[content.length - 5] as number) ^ 1;
      await writeFile(file, content);
    },
  ],
  [
    'of a newer format',
    /is of the format 2, and this edge reads up to 1/,
    async (file) => writeFile(file, (await readFile(file, 'utf8')).replace('"version":1', '"version":2')),
  ],
  ['writable by everybody', /may be written by every user/, (file) => chmod(file, 0o666)],
  ['a folder', /is no regular file/, async (file) => (await rm(file), nodeFiles.mkdir(file))],
  [
    'a link to a file elsewhere',
    /cannot be read: ELOOP/,
    async (file) => (await nodeFiles.rename(file, `${file}.moved`), symlink(`${file}.moved`, file)),
  ],
])('a snapshot that is %s is left out with a line in the log, and the edge starts', async (_, reason, damage) => {
  const folder = await folderOfTest();
  const first = open(folder);
  await first.snapshots.write(stateAt(1));
  const other = stateAt(1, { token: 'default:production.other' });
  await first.snapshots.write(other);
  await first.snapshots.close();
  await damage(path.join(folder, snapshotName(token)));
  const { snapshots, warnings, metric } = open(folder);
  expect(await snapshots.read()).toEqual([other]);
  expect(warnings).toEqual([expect.stringMatching(reason)]);
  expect(await metric('bunting_edge_snapshots_left_out_total')).toBe(1);
});

it('files of others in the folder stay as they are', async () => {
  const folder = await folderOfTest();
  await writeFile(path.join(folder, 'notes.txt'), 'mine');
  const { snapshots, warnings } = open(folder);
  expect(await snapshots.read()).toEqual([]);
  await snapshots.write(stateAt(1));
  expect(await readFile(path.join(folder, 'notes.txt'), 'utf8')).toBe('mine');
  expect(warnings).toEqual([]);
});

it('a folder that is none is said once, and the edge starts without', async () => {
  const folder = path.join(await folderOfTest(), 'a file');
  await writeFile(folder, '');
  const { snapshots, warnings } = open(folder);
  expect(await snapshots.read()).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining('EEXIST')]);
});

it('whichever write is the last of a killed process, the file is the state before or the state after', async () => {
  const seen = new Set<number>();
  for (let last = 1; last < 30; last++) {
    const folder = await folderOfTest();
    const before = open(folder);
    await before.snapshots.write(stateAt(1));
    await before.snapshots.close();
    const { files, state } = failingFiles('EIO');
    state.failing = last;
    const killed = open(folder, files);
    await killed.snapshots.write(stateAt(2));
    const reopened = open(folder);
    const [found] = await reopened.snapshots.read();
    expect(found).toEqual(stateAt(found?.revision ?? 0));
    expect(reopened.warnings).toEqual([]);
    seen.add(found?.revision ?? 0);
  }
  expect(seen).toEqual(new Set([1, 2]));
});

it('a process that is killed at any moment leaves the last state that it has written, or the next one', async () => {
  const folder = await folderOfTest();
  let written = 0;
  for (let kills = 1; kills <= 3; kills++) {
    const writer = spawn(process.execPath, [
      path.join(import.meta.dirname, '../../test/snapshot-writer.ts'),
      folder,
      String(written + 1),
    ]);
    const ended = once(writer, 'close');
    let lines = 0;
    writer.stdout.setEncoding('utf8').on('data', (text: string) => {
      const revisions = text.trim().split('\n');
      written = Number(revisions.at(-1));
      lines += revisions.length;
      if (lines >= kills) writer.kill('SIGKILL');
    });
    await ended;
    const { snapshots, warnings } = open(folder);
    const [found] = await snapshots.read();
    expect(warnings).toEqual([]);
    expect([written, written + 1]).toContain(found?.revision);
    written = found?.revision ?? 0;
  }
});

it.each(['ENOSPC', 'EROFS', 'EACCES'])(
  'while the disk refuses with %s it says so once, and writes once it can',
  async (code) => {
    const folder = await folderOfTest();
    const { files, state } = failingFiles(code);
    const { snapshots, warnings, metric } = open(folder, files);
    state.failing = 0;
    for (let revision = 1; revision < 4; revision++) await snapshots.write(stateAt(revision));
    expect(warnings).toEqual([expect.stringContaining(code)]);
    expect(await metric('bunting_edge_snapshots_written')).toBe(0);
    state.failing = Number.POSITIVE_INFINITY;
    await eventually(async () => expect(await open(folder).snapshots.read()).toEqual([stateAt(3)]));
    await eventually(async () => expect(await metric('bunting_edge_snapshots_written')).toBe(1));
  },
);

it('two edges on one folder never damage a snapshot, and neither replaces a later state', async () => {
  const folder = await folderOfTest();
  const [one, other] = [open(folder), open(folder)];
  const writes: Promise<void>[] = [];
  for (let revision = 1; revision <= 50; revision++) {
    writes.push(one.snapshots.write(stateAt(revision)), other.snapshots.write(stateAt(revision)));
    if (revision % 10 === 0) {
      await Promise.all(writes);
      const reader = open(folder);
      expect((await reader.snapshots.read()).length).toBe(1);
      expect(reader.warnings).toEqual([]);
    }
  }
  await Promise.all(writes);
  await other.snapshots.write(stateAt(7));
  expect(await open(folder).snapshots.read()).toEqual([stateAt(50)]);
  await other.snapshots.write(stateAt(7, { historyFrom: 51 }));
  expect(await open(folder).snapshots.read()).toEqual([stateAt(7, { historyFrom: 51 })]);
});

it('a restart finds what a token is for since its projects are others, whatever the revision', async () => {
  const folder = await folderOfTest();
  const { snapshots } = open(folder);
  await snapshots.write(stateAt(9, { projects: ['a', 'b'] }));
  const narrowed = stateAt(7, { projects: ['a'] });
  await snapshots.write(narrowed);
  expect(await open(folder).snapshots.read()).toEqual([narrowed]);
});

it('a snapshot that is corrupt is replaced by the next state, also by one with an earlier revision', async () => {
  const folder = await folderOfTest();
  const first = open(folder);
  await first.snapshots.write(stateAt(9));
  await first.snapshots.close();
  const file = path.join(folder, snapshotName(token));
  const content = await readFile(file);
  content[content.length - 5] = (content[content.length - 5] as number) ^ 1;
  await writeFile(file, content);
  const { snapshots } = open(folder);
  expect(await snapshots.read()).toEqual([]);
  await snapshots.write(stateAt(7));
  expect(await open(folder).snapshots.read()).toEqual([stateAt(7)]);
});

it('writes a large state in pieces, and reads none of the content that it replaces', async () => {
  const folder = await folderOfTest();
  let whole = 0;
  const lengths: number[] = [];
  const files = {
    ...nodeFiles,
    open: async (...parameters: Parameters<typeof nodeFiles.open>) => {
      const handle = await nodeFiles.open(...parameters);
      const { readFile: readWhole, writeFile: write } = handle;
      return Object.assign(handle, {
        readFile: () => (whole++, readWhole.call(handle, null)),
        writeFile: (content: string | Uint8Array) => (lengths.push(content.length), write.call(handle, content)),
      });
    },
  } as unknown as Files;
  const features = Array.from(
    { length: 2_000 },
    (_, nth) => new OriginFeature(flag(`flag-${nth}`, 'ß'.repeat(1_000)) as never),
  );
  const large = (revision: number) => stateAt(revision, { features });
  const { snapshots } = open(folder, files);
  for (const revision of [1, 2]) await snapshots.write(large(revision));
  // Each of the two has some 4 MB.
  expect([Math.max(...lengths) < 1_000_000, lengths.length > 16, whole]).toEqual([true, true, 0]);
  expect(await open(folder).snapshots.read()).toEqual([large(2)]);
});

describe('lists of segments', () => {
  const [one, two] = [listOf(['a', 'b', 'c', 'd']), listOf(['a', 'b', 'c', 'e'])];
  const bytesOf = (hash: string, kind: 'root' | 'ids'): Uint8Array => {
    const text = one.blocks.get(hash) ?? two.blocks.get(hash) ?? '';
    return kind === 'ids' ? Buffer.from(text) : Buffer.from(text.replaceAll('\n', ''), 'hex');
  };
  const stateWith = (revision: number, { list }: ReturnType<typeof listOf>, more: Partial<OriginState> = {}) =>
    stateAt(revision, { segments: [listedSegment(list) as never], ...more });
  const load = async (lists: ReturnType<typeof listsOfTest>) => {
    for (const { list } of [one, two])
      await lists.load(list.root, async (hashes, kind) => new Map(hashes.map((hash) => [hash, bytesOf(hash, kind)])));
  };
  const listsInMemory = async () => {
    const lists = listsOfTest();
    await load(lists);
    return lists;
  };
  const blocksIn = async (folder: string) => (await readdir(path.join(folder, 'lists'))).toSorted();

  it('a restart finds the lists of the last state, and only these stay', async () => {
    const folder = await folderOfTest();
    const { snapshots } = open(folder, undefined, { lists: await listsInMemory(), keptBlocksMs: 0 });
    await snapshots.write(stateWith(1, one));
    expect(await blocksIn(folder)).toEqual([...one.blocks.keys()].toSorted());
    await snapshots.write(stateWith(2, two));
    await snapshots.write(stateWith(3, two));
    expect(await blocksIn(folder)).toEqual([...two.blocks.keys()].toSorted());
    await snapshots.close();
    const lists = listsOfTest();
    expect(await open(folder, undefined, { lists }).snapshots.read()).toEqual([stateWith(3, two)]);
    expect([...(lists.find(two.list.root)?.ids() ?? [])].toSorted()).toEqual(['a', 'b', 'c', 'e']);
  });

  it('what another edge on the folder needs stays', async () => {
    const folder = await folderOfTest();
    const other = open(folder, undefined, { lists: await listsInMemory(), keptBlocksMs: 0 });
    const own = open(folder, undefined, { lists: await listsInMemory(), keptBlocksMs: 0 });
    await other.snapshots.write(stateWith(1, one, { token: 'default:development.another' }));
    await own.snapshots.write(stateWith(1, two));
    await own.snapshots.write(stateAt(2));
    await own.snapshots.write(stateAt(3));
    expect(await blocksIn(folder)).toEqual([...one.blocks.keys()].toSorted());
  });

  it.each(['is missing', 'is damaged'])(
    'a state of whose list a block %s is left out, and written anew',
    async (what) => {
      const folder = await folderOfTest();
      const { snapshots } = open(folder, undefined, { lists: await listsInMemory() });
      await snapshots.write(stateWith(1, one));
      await snapshots.close();
      const block = path.join(folder, 'lists', [...one.blocks.keys()][0] as string);
      await (what === 'is missing' ? rm(block) : writeFile(block, 'somebody\n'));
      const lists = listsOfTest();
      const restarted = open(folder, undefined, { lists });
      expect(await restarted.snapshots.read()).toEqual([]);
      expect(restarted.warnings).toEqual([expect.stringContaining('needs a list that is not there')]);
      await load(lists);
      await restarted.snapshots.write(stateWith(1, one));
      await restarted.snapshots.close();
      expect(await open(folder).snapshots.read()).toHaveLength(1);
    },
  );

  it('stay while it cannot be read which of them a snapshot needs', async () => {
    const folder = await folderOfTest();
    let isUnreadable = false;
    const files: Files = {
      ...nodeFiles,
      open: (file, flags, mode) =>
        isUnreadable && String(file).includes(`${path.sep}lists${path.sep}`) && typeof flags === 'number'
          ? Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }))
          : nodeFiles.open(file, flags, mode),
    };
    const { snapshots } = open(folder, files, { lists: await listsInMemory(), keptBlocksMs: 0 });
    await snapshots.write(stateWith(1, one));
    isUnreadable = true;
    // Another token's state lets blocks be looked through.
    await snapshots.write(stateAt(1, { token: 'default:development.another' }));
    await snapshots.write(stateAt(2, { token: 'default:development.another' }));
    expect(await blocksIn(folder)).toEqual([...one.blocks.keys()].toSorted());
  });

  it('that find no place hold up neither the states of other tokens nor the removal of one', async () => {
    const folder = await folderOfTest();
    const lists = { ...(await listsInMemory()), maxBytes: 10 };
    const { snapshots } = open(folder, undefined, { lists });
    await snapshots.write(stateAt(1, { token: 'default:development.gone' }));
    await Promise.all([
      snapshots.write(stateWith(1, one)),
      snapshots.write(stateAt(1, { token: 'default:development.another' })),
      snapshots.remove('default:development.gone'),
    ]);
    await eventually(async () =>
      expect((await open(folder).snapshots.read()).map(({ token }) => token)).toEqual(['default:development.another']),
    );
  });

  it('no more of them is written than four times what may be in memory', async () => {
    const folder = await folderOfTest();
    const lists = { ...(await listsInMemory()), maxBytes: 10 };
    const { snapshots, metric } = open(folder, undefined, { lists });
    await snapshots.write(stateWith(1, one));
    expect(await metric('bunting_edge_snapshots_written')).toBe(0);
    await snapshots.write(stateAt(2));
    expect(await metric('bunting_edge_snapshots_written')).toBe(1);
  });
});
