import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '@bunting/testing';
import { afterEach, expect, it } from 'vitest';
import { startChangingOrigin, token } from './changing-origin.ts';
import { giveList, listedSegment, listOf } from './listed-segment.ts';
import { type OriginData } from './simulated-origin.ts';
import { startEdge } from './started-edge.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const users = (count: number, first = 0) => Array.from({ length: count }, (_, nth) => `user-${first + nth}`);
const modes: readonly Readonly<Record<string, string>>[] = [
  {},
  { STREAMING: 'false' },
  { STREAMING: 'false', DELTA: 'false' },
];

async function givenOrigin() {
  const { origin, folder } = await startChangingOrigin(stops, JSON.stringify);
  const startEdgeBehind = (settings: Readonly<Record<string, string>> = {}) =>
    startEdge(stops, {
      UPSTREAM_URL: origin.url.href,
      TOKENS: token,
      BACKUP_FOLDER: folder,
      FEATURES_REFRESH_INTERVAL_SECONDS: '1',
      ...settings,
    });
  return { origin, folder, startEdge: startEdgeBehind };
}

/** For which of these users the listed flag is on, behind an edge. */
async function usersWithFlag(url: string, ...ids: readonly string[]): Promise<readonly string[]> {
  const on: string[] = [];
  for (const userId of ids) {
    const response = await fetch(`${url}/ofrep/v1/evaluate/flags/listed`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ context: { userId } }),
    });
    if (((await response.json()) as { value: boolean }).value) on.push(userId);
  }
  return on;
}
const get = async (url: string, route = '/api/client/features') =>
  (await fetch(`${url}${route}`, { headers: { authorization: token, 'unleash-client-spec': '5.2.0' } })).json();
const healthOf = async (url: string) =>
  (await get(url, '/internal-backstage/health')) as {
    readonly stale: number;
    readonly oldestMs: number;
    readonly listsTooLarge: number;
  };

it.each(modes)(
  'an edge evaluates a list as its origin does, and asks only for blocks that have changed, with %s',
  async (settings) => {
    const { origin, startEdge } = await givenOrigin();
    const first = listOf(users(400));
    giveList(origin, first);
    const edge = await startEdge(settings);
    expect(await usersWithFlag(edge.url, 'user-0', 'user-399', 'user-400', '')).toEqual(['user-0', 'user-399']);
    expect(new Set(origin.blocksAsked)).toEqual(new Set(first.blocks.keys()));
    expect(origin.blocksAsked).toHaveLength(5);
    const second = listOf([...users(399), 'new']);
    giveList(origin, second);
    await eventually(async () => expect(await usersWithFlag(edge.url, 'user-399', 'new')).toEqual(['new']));
    const changed = [...second.blocks.keys()].filter((hash) => !first.blocks.has(hash));
    expect(origin.blocksAsked.slice(5).toSorted()).toEqual(changed.toSorted());
  },
);

it('an edge that restarts without its origin evaluates the lists that it had last', async () => {
  const { origin, folder, startEdge } = await givenOrigin();
  giveList(origin, listOf(users(400)));
  const edge = await startEdge();
  const current = listOf(users(300, 1_000));
  giveList(origin, current);
  await eventually(async () => expect(await usersWithFlag(edge.url, 'user-0', 'user-1000')).toEqual(['user-1000']));
  await edge.stop();
  await origin.goAway();
  const restarted = await startEdge();
  expect(await usersWithFlag(restarted.url, 'user-0', 'user-1000', 'user-1299')).toEqual(['user-1000', 'user-1299']);
  expect(await readdir(path.join(folder, 'lists'))).toEqual(expect.arrayContaining([...current.blocks.keys()]));
});

it('an edge whose block on the disk is damaged serves nothing older, and reads that block again from its origin', async () => {
  const { origin, folder, startEdge } = await givenOrigin();
  const listed = listOf(users(400));
  giveList(origin, listed);
  const edge = await startEdge();
  await edge.stop();
  const damaged = [...listed.blocks.keys()][0] as string;
  await writeFile(path.join(folder, 'lists', damaged), 'somebody\n');
  const restarted = await startEdge();
  expect(await usersWithFlag(restarted.url, 'user-0', 'somebody')).toEqual(['user-0']);
  await restarted.stop();
  await origin.goAway();
  const without = await startEdge();
  expect(await usersWithFlag(without.url, 'user-0', 'somebody')).toEqual(['user-0']);
});

it.each(modes)(
  'an edge serves what it had for as long as a block is missing, says so, and then the new state, with %s',
  async (settings) => {
    const { origin, startEdge } = await givenOrigin();
    giveList(origin, listOf(users(400)));
    const edge = await startEdge(settings);
    const next = listOf([...users(400), 'new']);
    const [missing] = [...next.blocks].find(([hash]) => !origin.state.blocks.has(hash)) as [string, string];
    giveList(origin, next);
    const text = origin.state.blocks.get(missing) as string;
    origin.state.blocks.delete(missing);
    origin.state.data.put({ ...origin.state.data.list()[0], name: 'later' });
    origin.wakeStreams();
    await eventually(async () => expect((await healthOf(edge.url)).stale).toBe(1));
    await eventually(() => expect(origin.blocksAsked.filter((hash) => hash === missing).length).toBeGreaterThan(2));
    expect(JSON.stringify(await get(edge.url))).not.toContain('"later"');
    expect(await usersWithFlag(edge.url, 'user-0', 'new')).toEqual(['user-0']);
    origin.state.blocks.set(missing, text);
    await eventually(async () => expect(await usersWithFlag(edge.url, 'user-0', 'new')).toEqual(['user-0', 'new']));
    expect(JSON.stringify(await get(edge.url))).toContain('"later"');
    await eventually(async () => expect((await healthOf(edge.url)).stale).toBe(0));
  },
);

const lies: readonly [
  string,
  (list: ReturnType<typeof listOf>, put: OriginData['putSegment'], blocks: Map<string, string>) => void,
][] = [
  [
    'a block that its hash is not of',
    ({ list, blocks: own }, put, blocks) => {
      blocks.set([...own.keys()][0] as string, 'liar\n');
      put(listedSegment(list));
    },
  ],
  ['a list of another size', ({ list }, put) => put(listedSegment({ ...list, size: 3 }))],
  [
    'a list whose root names no blocks',
    ({ list }, put, blocks) => {
      blocks.set(list.root, 'liar\n');
      put(listedSegment(list));
    },
  ],
  ['a root that is no hash', ({ list }, put) => put(listedSegment({ ...list, root: '../../etc/passwd' }))],
  [
    'a segment that is open to readers without lists',
    ({ list }, put) => put({ ...listedSegment(list), constraints: [] }),
  ],
];
it.each(lies)('an edge does not believe an origin that tells of %s', async (_, lie) => {
  const { origin, startEdge } = await givenOrigin();
  giveList(origin, listOf(['honest']));
  const edge = await startEdge();
  const next = listOf(['liar']);
  for (const [hash, text] of next.blocks) origin.state.blocks.set(hash, text);
  lie(next, origin.state.data.putSegment, origin.state.blocks);
  origin.wakeStreams();
  await eventually(async () => expect((await healthOf(edge.url)).stale).toBe(1));
  expect(await usersWithFlag(edge.url, 'honest', 'liar')).toEqual(['honest']);
  giveList(origin, listOf(['another']));
  await eventually(async () => expect(await usersWithFlag(edge.url, 'honest', 'liar', 'another')).toEqual(['another']));
});

it('an edge takes no more of lists than UPSTREAM_MAX_LISTS_MIB: a list that is too large matches nobody, and the rest is served', async () => {
  const { origin, startEdge } = await givenOrigin();
  giveList(origin, listOf(['honest']));
  const edge = await startEdge({ UPSTREAM_MAX_LISTS_MIB: '4', BACKUP_FOLDER: '' });
  // 500 MB in blocks of 64 KB, each made when it is asked for.
  const seeds = Array.from({ length: 8_192 }, () => randomBytes(4).toString('hex'));
  const textOf = (seed: string): string => `${seed}${'x'.repeat(64_000)}\n`;
  const hashes = new Map<string, string>();
  const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
  for (const seed of seeds) hashes.set(hashOf(textOf(seed)), seed);
  const root = hashOf(Buffer.from([...hashes.keys()].join(''), 'hex'));
  let sent = 0;
  origin.state.blocks = {
    has: (hash: string) => hash === root || hashes.has(hash),
    get: (hash: string) => {
      const text =
        hash === root ? [...hashes.keys()].map((one) => `${one}\n`).join('') : textOf(hashes.get(hash) ?? '');
      sent += text.length;
      return text;
    },
  } as Map<string, string>;
  origin.state.data.putSegment(listedSegment({ contextName: 'userId', size: hashes.size, root }));
  origin.wakeStreams();
  const metric = async (name: string): Promise<number> => {
    const metrics = await (await fetch(`${edge.url}/internal-backstage/prometheus`)).text();
    return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(metrics)?.[1]);
  };
  const flags = async () => JSON.stringify(await get(edge.url));
  await eventually(async () => expect(await healthOf(edge.url)).toMatchObject({ stale: 0, listsTooLarge: 1 }));
  expect(await metric('bunting_edge_segment_lists_too_large')).toBe(1);
  for (const name of ['later', 'much-later']) {
    origin.state.data.put({ ...origin.state.data.list()[0], name });
    origin.wakeStreams();
    await eventually(async () => expect(await flags()).toContain(`"${name}"`));
  }
  expect(await usersWithFlag(edge.url, 'honest', seeds[0] as string)).toEqual([]);
  expect(await metric('bunting_segment_list_bytes')).toBeLessThan(4 * 1024 * 1024);
  expect(sent).toBeLessThan(8 * 1024 * 1024);
  origin.state.blocks = new Map();
  giveList(origin, listOf(['another']));
  await eventually(async () => expect(await usersWithFlag(edge.url, 'honest', 'another')).toEqual(['another']));
  expect(await healthOf(edge.url)).toMatchObject({ stale: 0, listsTooLarge: 0 });
});

it('server SDKs behind an edge get a short list as a constraint, and a long one as a segment that matches nobody', async () => {
  const { origin, startEdge } = await givenOrigin();
  giveList(origin, listOf(['a', 'b']));
  const edge = await startEdge({ GATEWAY_MAX_LIST_IDS_TO_SDKS: '2' });
  const sent = async () => ((await get(edge.url)) as { segments: object[] }).segments;
  const constraint = { contextName: 'userId', operator: 'IN' };
  const [segment] = (await sent()) as { constraints: { values: string[] }[] }[];
  expect(segment).not.toHaveProperty('list');
  expect(segment).toMatchObject({ id: 7, constraints: [constraint] });
  expect(segment?.constraints[0]?.values.toSorted()).toEqual(['a', 'b']);
  giveList(origin, listOf(['a', 'b', 'c']));
  await eventually(async () =>
    expect(await sent()).toEqual([{ id: 7, name: 'listed', constraints: [{ ...constraint, values: [] }] }]),
  );
  expect(await usersWithFlag(edge.url, 'c', 'd')).toEqual(['c']);
});

it('server SDKs behind an edge get the ids of the lists of which they get them at its origin, whatever its own limit', async () => {
  const { origin, folder, startEdge } = await givenOrigin();
  const give = (ids: string[], sentToServerSdks: boolean) => {
    const { list, blocks } = listOf(ids);
    giveList(origin, { list: { ...list, sentToServerSdks }, blocks });
  };
  give(users(12_000), true);
  const edge = await startEdge({ GATEWAY_MAX_LIST_IDS_TO_SDKS: '2' });
  const folderBehind = path.join(folder, 'behind');
  await mkdir(folderBehind);
  const behind = await startEdge({ UPSTREAM_URL: edge.url, BACKUP_FOLDER: folderBehind });
  const sentBy = async ({ url }: { readonly url: string }) => {
    const { segments } = (await get(url)) as { segments: { constraints: { values: string[] }[] }[] };
    return segments[0]?.constraints[0]?.values.toSorted();
  };
  expect([await sentBy(edge), await sentBy(behind)]).toEqual([users(12_000).toSorted(), users(12_000).toSorted()]);
  give(['a'], false);
  await eventually(async () => expect([await sentBy(edge), await sentBy(behind)]).toEqual([[], []]));
  expect(await usersWithFlag(behind.url, 'a', 'b')).toEqual(['a']);
});

it.each([
  [404, 'application/json'],
  [405, 'application/json'],
  [403, 'application/json'],
  [403, 'text/html'],
])(
  'an edge whose proxy answers %d in %s to questions for blocks follows its origin as SDKs do, with short lists as ids',
  async (status, contentType) => {
    const { origin, startEdge } = await givenOrigin();
    const { list, blocks } = listOf(['a']);
    giveList(origin, { list, blocks });
    const { data } = origin.state;
    const inlined = { id: 7, name: 'listed', constraints: [{ contextName: 'userId', operator: 'IN', values: ['a'] }] };
    origin.state.lie = (request, response) => {
      const isBlocks = request.url?.endsWith('segment-blocks') === true;
      const isForFeatures = /\/(?:features|delta|streaming)$/.test(request.url ?? '');
      if (isBlocks) response.writeHead(status, { 'content-type': contentType }).end('{"name":"Blocked"}');
      if (isForFeatures)
        data.putSegment(request.headers['bunting-segment-lists'] === undefined ? inlined : listedSegment(list));
      return isBlocks;
    };
    const edge = await startEdge();
    await eventually(async () => expect(await usersWithFlag(edge.url, 'a', 'b')).toEqual(['a']));
    data.put({ ...data.list()[0], name: 'later' });
    origin.wakeStreams();
    await eventually(async () => expect(JSON.stringify(await get(edge.url))).toContain('"later"'));
    expect(origin.requests.filter(({ url }) => url.endsWith('segment-blocks'))).toHaveLength(3);
  },
);
