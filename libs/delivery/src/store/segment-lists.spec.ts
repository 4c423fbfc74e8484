import { type ErrorKind, type OutboxMessage, refusal } from '@bunting/contracts';
import { encodeIdBlock, encodeRootBlock, inflateIdBlock, type StoredBlock } from '@bunting/contracts/id-blocks';
import { expect, it } from 'vitest';
import { aSetting, aStrategy, featureRow, givenRows } from '../../test/delivery-rows.ts';
import { deliveryView } from '../view/delivery-view.ts';
import { deliveryStore } from './delivery-store.ts';
import { type FetchBlocks, idLists } from './id-lists.ts';
import { segmentLists } from './segment-lists.ts';

const stored = (ids: readonly string[]) => {
  const block = encodeIdBlock(ids);
  const root = encodeRootBlock([block.hash]);
  return { root: root.hash.toString('hex'), blocks: [block, root] };
};
const rowOf = (id: number, root: string | undefined) =>
  ({
    payload: {
      entity: 'segment',
      id: String(id),
      state: {
        id,
        name: 's',
        constraints: [],
        ...(root && { list: { contextName: 'userId', size: 1, version: 1, root } }),
      },
    },
  }) as unknown as OutboxMessage;

/** What the stored content of a block says. */
const said = (content: Buffer | undefined, kind: 'root' | 'ids'): Uint8Array =>
  kind === 'root' ? (content as Buffer) : inflateIdBlock(content as Buffer);

/** Lists whose blocks are these, and the hashes that were asked for. */
const start = (...blocks: readonly StoredBlock[]) => {
  const contents = new Map(blocks.map(({ hash, content }) => [hash.toString('hex'), content]));
  const [fetched, warnings]: [string[], string[]] = [[], []];
  const fetch: FetchBlocks = async (hashes, kind) => {
    fetched.push(...hashes);
    return new Map(hashes.flatMap((hash) => (contents.has(hash) ? [[hash, said(contents.get(hash), kind)]] : [])));
  };
  return { contents, fetched, warnings, lists: segmentLists(fetch, (message) => warnings.push(message)) };
};

it('reads the blocks that it lacks, each once, and keeps those that lists still have', async () => {
  const [one, same, other] = [stored(['a']), stored(['a']), stored(['b'])];
  const { lists, fetched } = start(...one.blocks, ...other.blocks);
  await lists.loadFor([rowOf(1, one.root), rowOf(2, same.root), rowOf(3, other.root), rowOf(4, undefined)]);
  expect(fetched).toHaveLength(4);
  lists.retain(new Set([other.root]), true);
  expect(lists.find(one.root)).toBeUndefined();
  expect(lists.find(other.root)?.has('b')).toBe(true);
  await lists.loadFor([rowOf(3, other.root)]);
  expect(fetched).toHaveLength(4);
});

it('reads only the newest list of a segment', async () => {
  const [older, newer] = [stored(['a']), stored(['b'])];
  const { lists, fetched } = start(...older.blocks, ...newer.blocks);
  await lists.loadFor([rowOf(1, older.root), rowOf(1, newer.root)]);
  expect(fetched).not.toContain(older.root);
  expect(lists.find(newer.root)?.size).toBe(1);
});

it('knows no list of which a block is missing or has another content, and warns once of each current one', async () => {
  const { root, blocks } = stored(['a']);
  const [block, rootBlock] = blocks as [StoredBlock, StoredBlock];
  for (const given of [[block], [rootBlock], [{ ...block, content: encodeIdBlock(['b']).content }, rootBlock]]) {
    const { lists, warnings } = start(...given);
    for (const isComplete of [false, true, true]) {
      await lists.loadFor([rowOf(1, root)]);
      lists.retain(new Set([root]), isComplete);
    }
    expect(lists.find(root)).toBeUndefined();
    expect(lists.unknown).toBe(1);
    expect(warnings).toEqual([expect.stringContaining(root)]);
    lists.retain(new Set(), true);
    expect(lists.unknown).toBe(0);
  }
});

it('a list that is refused holds no other list up, and one that is too long for a message is read a block at a time', async () => {
  const [one, two] = [encodeIdBlock(['a']), encodeIdBlock(['b'])];
  const long = encodeRootBlock([one.hash, two.hash]);
  const other = stored(['c']);
  const contents = new Map<string, Buffer>();
  const all = [one, two, long, ...other.blocks];
  for (const { hash, content } of all) contents.set(hash.toString('hex'), content);
  const refusing = (isRefused: (hashes: readonly string[]) => boolean, kind: ErrorKind) =>
    segmentLists(
      async (hashes, blockKind) => {
        if (isRefused(hashes)) throw refusal(kind, 'refused');
        return new Map(hashes.map((hash) => [hash, said(contents.get(hash), blockKind)]));
      },
      () => undefined,
    );
  const root = long.hash.toString('hex');
  const rows = [rowOf(1, root), rowOf(2, other.root)];
  const inParts = refusing((hashes) => hashes.length > 1, 'PayloadTooLarge');
  await inParts.loadFor(rows);
  expect(inParts.find(root)?.size).toBe(2);
  const withoutOne = refusing((hashes) => hashes.includes(one.hash.toString('hex')), 'PayloadTooLarge');
  await withoutOne.loadFor(rows);
  expect(withoutOne.find(root)).toBeUndefined();
  expect(withoutOne.find(other.root)?.has('c')).toBe(true);
  await expect(refusing(() => true, 'ServiceUnavailable').loadFor(rows)).rejects.toMatchObject({
    kind: 'ServiceUnavailable',
  });
});

it('an edge gets the blocks of a list that has been replaced within the last minute, and only then', async () => {
  const versions = Array.from({ length: 5 }, (_, nth) => stored([`user-${nth}`]));
  const { lists } = start(...versions.flatMap(({ blocks }) => blocks));
  let now = 1_000_000;
  const store = deliveryStore({ lists: { find: lists.find, maxIdsToSdks: 0, now: () => now } });
  const view = deliveryView(store, { environment: 'development', inlineSegments: false, listsByReference: true });
  let position = 0;
  const write = async (...messages: readonly OutboxMessage[]): Promise<void> => {
    await lists.loadFor(messages);
    position++;
    store.apply(
      messages.map((message) => ({ ...message, position })),
      position,
      true,
    );
    lists.retain(store.listRoots(), true);
  };
  const strategies = [aStrategy([1])];
  const listed = featureRow('listed', { environments: { development: aSetting({ strategies }) } });
  const payloads = [...givenRows('default'), listed].map((payload) => ({ payload }) as OutboxMessage);
  await write(...payloads);
  const sent = (root: string): number => [...view.blocksAmong([root])].length;
  for (const { root } of versions) {
    await write(rowOf(1, root));
    now += 15_000;
  }
  expect(versions.map(({ root }) => sent(root))).toEqual([1, 1, 1, 1, 1]);
  expect([...view.blocksAmong(versions[0]?.blocks.map(({ hash }) => hash.toString('hex')) ?? [])]).toContainEqual({
    hash: versions[0]?.blocks[0]?.hash.toString('hex'),
    text: 'user-0\n',
  });
  now += 29_000;
  await write({ payload: featureRow('another') } as OutboxMessage);
  expect(versions.map(({ root }) => sent(root))).toEqual([0, 0, 1, 1, 1]);
  expect(lists.find(versions[0]?.root ?? '')).toBeUndefined();
  await write(rowOf(1, undefined));
  expect(sent(versions[4]?.root ?? '')).toBe(1);
  now += 60_000;
  await write({ payload: featureRow('another', { description: 'later' }) } as OutboxMessage);
  expect(versions.map(({ root }) => sent(root))).toEqual([0, 0, 0, 0, 0]);
  expect(lists.bytes).toBe(0);
});

it('counts what a list takes beside its ids: many lists of the same block have no place without a limit', async () => {
  const block = encodeIdBlock(['a']);
  const fetch: FetchBlocks = async (hashes, kind) =>
    new Map(
      hashes.map((hash) => [hash, said((kind === 'ids' ? block : (roots.get(hash) as StoredBlock)).content, kind)]),
    );
  const roots = new Map(
    [1, 2, 4, 8, 16, 32].map((count) => {
      const root = encodeRootBlock(Array.from({ length: count }, () => block.hash));
      return [root.hash.toString('hex'), root];
    }),
  );
  const lists = idLists({ maxBytes: 5_000 });
  const names = [...roots.keys()];
  for (const root of names.slice(0, 5)) await lists.load(root, fetch);
  await expect(lists.load(names[5] as string, fetch)).rejects.toMatchObject({ isTooLarge: true });
  lists.retain(new Set());
  expect(lists.bytes).toBe(0);
  await lists.load(names[5] as string, fetch);
});
