import { hash, randomBytes } from 'node:crypto';
import {
  AddSegmentIds,
  AddStrategy,
  type AnyOperation,
  ApplyChanges,
  type Caller,
  type Change,
  CreateContextField,
  CreateSegment,
  DeleteSegment,
  EvaluatePlayground,
  GetSegment,
  GetSegmentBlocks,
  GetSegmentList,
  maxSegmentBlockBytes,
  PreviewChanges,
  type ReplyOf,
  RemoveSegmentIds,
  ReplaceSegmentList,
  type SegmentListChange,
  StageSegmentIds,
  systemCaller,
  UpdateSegment,
} from '@bunting/contracts';
import { decodeIdBlock, decodeRootBlock, encodeIdBlock, idsOfBlock } from '@bunting/contracts/id-blocks';
import { blockOfId } from '@bunting/evaluation';
import { beforeEach, expect, it } from 'vitest';
import { testUnitOfWork } from '../../test/features-unit-of-work.ts';
import { callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';
import { runHousekeeping } from '../housekeeping/background.ts';

const features = useFeatures();

type ListEdit = typeof ReplaceSegmentList | typeof AddSegmentIds | typeof RemoveSegmentIds;
const actionOf = (operation: AnyOperation) =>
  operation === ReplaceSegmentList ? 'replace' : operation === AddSegmentIds ? 'add' : ('remove' as const);

let id: number;
let nthSegment = 0;
const newSegment = async (more = {}) => {
  const segment = await features.call(CreateSegment, { body: { name: `s${++nthSegment}`, constraints: [], ...more } });
  return segment.id;
};
beforeEach(async () => {
  id = await newSegment();
  await features.clearOutbox();
});

/** Stores pieces as the gateway does, and returns how the operation names them. */
const stage = async (
  operation: ListEdit,
  pieces: readonly (readonly string[])[],
  contextName?: string,
  caller = mia,
) => {
  const upload = randomBytes(16).toString('hex');
  const query = contextName === undefined ? {} : { contextName };
  for (const [piece, ids] of pieces.entries())
    await features.call(
      StageSegmentIds,
      { params: { id }, query, body: { action: actionOf(operation), upload, piece, ids: [...ids] } },
      caller,
    );
  const text = pieces.flat().map((one) => `${one}\n`);
  return {
    upload,
    pieces: pieces.length,
    received: pieces.flat().length,
    bytes: Buffer.byteLength(text.join('')),
    hash: hash('sha256', text.join(''), 'hex'),
  };
};
const edit = async (
  operation: ListEdit,
  ids: readonly string[],
  contextName?: string,
  caller: Caller = mia,
): Promise<SegmentListChange> => {
  const body = await stage(operation, ids.length === 0 ? [] : [ids], contextName, caller);
  const query = contextName === undefined ? {} : { contextName };
  return features.call(operation as typeof AddSegmentIds, { params: { id }, query, body }, caller);
};
const blocksOf = async (hashes: readonly string[]) => {
  const { blocks } = await features.call(GetSegmentBlocks, { body: { hashes: [...hashes] } }, systemCaller);
  return blocks.map((block) => ({
    hash: Buffer.from(block.hash, 'hex'),
    content: Buffer.from(block.content, 'base64'),
  }));
};
const idsOf = async (list: ReplyOf<typeof GetSegmentList>): Promise<string[]> => {
  const ids: string[] = [];
  for (let from = 0; from < list.blocks.length; from += 32)
    for (const block of await blocksOf(list.blocks.slice(from, from + 32)))
      ids.push(...idsOfBlock(decodeIdBlock(block)));
  return ids.sort();
};
const list = async () => idsOf(await features.call(GetSegmentList, { params: { id } }));
const sql = <Row>(text: string): Promise<Row[]> => features.database.transaction(({ query }) => query<Row>(text));
const countOf = async (from: string): Promise<number> =>
  Number((await sql<{ count: string }>(`select count(*) from ${from}`))[0]?.count);
const lastDelivered = async () =>
  (await features.deliveryStates()).findLast(({ entity }) => entity === 'segment')?.state;

it('replaces, extends and shortens a list, and says what has changed', async () => {
  expect(await edit(ReplaceSegmentList, ['b', 'a', 'b'], 'userId')).toMatchObject({
    list: { contextName: 'userId', size: 2 },
    received: 3,
    added: 2,
    removed: 0,
  });
  expect(await edit(AddSegmentIds, ['b', 'c', 'é', '😀', '\uffee'])).toMatchObject({ added: 4, removed: 0 });
  expect(await list()).toEqual(['a', 'b', 'c', 'é', '😀', '\uffee'].sort());
  expect(await edit(RemoveSegmentIds, ['a', 'z'])).toMatchObject({ list: { size: 5 }, added: 0, removed: 1 });
  expect(await edit(ReplaceSegmentList, ['c', 'd'])).toMatchObject({ list: { size: 2 }, added: 1, removed: 4 });
  expect(await list()).toEqual(['c', 'd']);
  expect((await features.call(GetSegment, { params: { id } })).list).toMatchObject({ contextName: 'userId', size: 2 });
});

it('emits numbers of ids, and no id, in the event of a changed list', async () => {
  await edit(ReplaceSegmentList, ['secret-1', 'secret-2'], 'userId');
  await edit(AddSegmentIds, ['secret-3']);
  const events = await features.emittedEvents();
  expect(events).toMatchObject([
    { type: 'segment-updated', data: { id, list: { size: 2 }, listChange: { added: 2, removed: 0 } } },
    { type: 'segment-updated', preData: { list: { size: 2 } }, data: { list: { size: 3 }, listChange: { added: 1 } } },
  ]);
  expect(JSON.stringify(events)).not.toContain('secret');
});

it('emits nothing for a list that stays the same', async () => {
  await edit(ReplaceSegmentList, ['a', 'b'], 'userId');
  await features.clearOutbox();
  const { list: after } = await edit(ReplaceSegmentList, ['b', 'a']);
  expect(await edit(AddSegmentIds, ['a'])).toMatchObject({ list: after, added: 0 });
  expect(await features.emittedEvents()).toEqual([]);
  expect(await features.deliveryStates()).toEqual([]);
});

it('delivers a segment with a list as one that matches nobody, with its list by reference', async () => {
  await edit(ReplaceSegmentList, ['a'], 'userId');
  expect(await lastDelivered()).toMatchObject({
    constraints: [{ contextName: 'userId', operator: 'IN', values: [] }],
    list: { contextName: 'userId', size: 1, root: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
  });
  const constraint = { contextName: 'appName', operator: 'IN' as const, values: ['web'] };
  await features.call(UpdateSegment, { params: { id }, body: { name: 'renamed', constraints: [constraint] } });
  expect(await lastDelivered()).toMatchObject({
    constraints: [constraint, { operator: 'IN', values: [] }],
    list: { size: 1 },
  });
  for (const query of [{}, { all: false }, { all: true, contextName: 'userId' }])
    await expect(features.call(RemoveSegmentIds, { params: { id }, query, body: null })).rejects.toMatchObject({
      kind: 'ValidationError',
    });
  await features.call(RemoveSegmentIds, { params: { id }, query: { all: true }, body: null });
  expect(await lastDelivered()).toEqual({ id, name: 'renamed', constraints: [expect.objectContaining(constraint)] });
});

it('delivers the list also with a row of the version before, which knows nothing of lists', async () => {
  await edit(ReplaceSegmentList, ['a'], 'userId');
  const payload = JSON.stringify({ entity: 'segment', id: String(id), state: { id, name: 'old', constraints: [] } });
  await features.database.transaction(({ query }) =>
    query(`insert into outbox (topic, type, entity_key, payload) values ('delivery', 'segment', 'segment:${id}', $1)`, [
      payload,
    ]),
  );
  expect(await lastDelivered()).toMatchObject({ name: 'old', constraints: [{ values: [] }], list: { size: 1 } });
});

it('a list without ids matches nobody, and stays a list', async () => {
  expect(await edit(ReplaceSegmentList, [], 'userId')).toMatchObject({ list: { size: 0 } });
  expect(await list()).toEqual([]);
  expect(await lastDelivered()).toMatchObject({ list: { size: 0 } });
});

it('replaces few blocks for a change of few ids', async () => {
  const ids = Array.from({ length: 20_000 }, (_, nth) => `user-${nth}`);
  await edit(ReplaceSegmentList, ids, 'userId');
  const before = await features.call(GetSegmentList, { params: { id } });
  expect(before.blocks).toHaveLength(32);
  const [{ lsn: from } = { lsn: '' }] = await sql<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn');
  await edit(AddSegmentIds, ['one more']);
  const after = await features.call(GetSegmentList, { params: { id } });
  expect(after.blocks.filter((block) => !before.blocks.includes(block))).toHaveLength(1);
  const [{ bytes } = { bytes: 0 }] = await sql<{ bytes: number }>(
    `select (pg_current_wal_insert_lsn() - '${from}'::pg_lsn)::integer as bytes`,
  );
  // 20,000 ids have 220 kB. Full pages after a checkpoint may be among them.
  expect(bytes).toBeLessThan(150_000);
  expect((await list()).length).toBe(20_001);
});

it('divides a list anew once its blocks have become too large, and loses no id', async () => {
  await edit(ReplaceSegmentList, ['a', 'b'], 'userId');
  const ids = Array.from({ length: 9_000 }, (_, nth) => `user-${nth}`);
  expect(await edit(AddSegmentIds, ids)).toMatchObject({ added: 9_000, removed: 0, list: { size: 9_002 } });
  expect((await features.call(GetSegmentList, { params: { id } })).blocks).toHaveLength(16);
  expect(await list()).toEqual(['a', 'b', ...ids].sort());
  expect(await edit(ReplaceSegmentList, ['b'])).toMatchObject({ added: 0, removed: 9_001, list: { size: 1 } });
});

it('divides long ids among more blocks, so that a message has any of them', async () => {
  const longest = (nth: number) => `${nth}`.padEnd(255, '日');
  const pieces = Array.from({ length: 20 }, (_, piece) =>
    Array.from({ length: 200 }, (_, nth) => longest(1_000 * piece + nth)),
  );
  const body = await stage(ReplaceSegmentList, pieces, 'userId');
  await features.call(ReplaceSegmentList, { params: { id }, query: { contextName: 'userId' }, body });
  const { blocks } = await features.call(GetSegmentList, { params: { id } });
  expect(blocks).toHaveLength(64);
  for (const block of await blocksOf(blocks.slice(0, 32)))
    expect(decodeIdBlock(block).length).toBeLessThan(maxSegmentBlockBytes);
  expect(await list()).toHaveLength(4_000);
});

it('refuses ids that were chosen so that they fall into one block', async () => {
  await edit(ReplaceSegmentList, ['a'], 'userId');
  const chosen: string[] = [];
  for (let nth = 0; chosen.length < 720; nth++) {
    const one = `${nth}`.padEnd(255, '日');
    if (blockOfId(one, 32) === 0) chosen.push(one);
  }
  await expect(edit(ReplaceSegmentList, chosen)).rejects.toMatchObject({ kind: 'ValidationError' });
  expect(await list()).toEqual(['a']);
});

it('keeps all ids of two uploads at once', async () => {
  await edit(ReplaceSegmentList, ['a'], 'userId');
  const many = (prefix: string) => Array.from({ length: 3_000 }, (_, nth) => `${prefix}-${nth}`);
  await Promise.all([edit(AddSegmentIds, many('x')), edit(AddSegmentIds, many('y')), edit(RemoveSegmentIds, ['a'])]);
  expect(await list()).toEqual([...many('x'), ...many('y')].sort());
});

it('keeps the old list when an upload ends between its pieces, or its pieces are not those that were sent', async () => {
  await edit(ReplaceSegmentList, ['a'], 'userId');
  const staged = await stage(ReplaceSegmentList, [['b'], ['c']]);
  expect(await list()).toEqual(['a']);
  for (const wrong of [
    { pieces: 3 },
    { pieces: 1 },
    { hash: '0'.repeat(64) },
    { upload: randomBytes(16).toString('hex') },
  ])
    await expect(
      features.call(ReplaceSegmentList, { params: { id }, body: { ...staged, ...wrong } }),
    ).rejects.toMatchObject({ kind: 'ConflictError' });
  expect(await list()).toEqual(['a']);
  expect(await features.call(ReplaceSegmentList, { params: { id }, body: staged })).toMatchObject({
    list: { size: 2 },
  });
  expect(await countOf(`segment_list_piece where upload = '${staged.upload}'`)).toBe(0);
});

it('refuses an upload before its ids are stored', async () => {
  const refusedWith = (kind: string, run: () => Promise<unknown>) => expect(run()).rejects.toMatchObject({ kind });
  await refusedWith('ValidationError', () => stage(ReplaceSegmentList, [['a']]));
  await refusedWith('NotFoundError', () => stage(RemoveSegmentIds, [['a']]));
  await refusedWith('NotFoundError', () => stage(ReplaceSegmentList, [['a']], 'noSuchField'));
  await refusedWith('NoAccessError', () => stage(ReplaceSegmentList, [['a']], 'userId', lee));
  await refusedWith('NoAccessError', () =>
    stage(ReplaceSegmentList, [['a']], 'userId', callerWith({ permission: 'UPDATE_PROJECT_SEGMENT' })),
  );
  await features.call(CreateContextField, { body: { name: `plan${id}`, legalValues: [{ value: 'pro' }] } });
  await refusedWith('ValidationError', () => stage(ReplaceSegmentList, [['a']], `plan${id}`));
  await edit(ReplaceSegmentList, ['a'], 'userId');
  await refusedWith('ValidationError', () => stage(AddSegmentIds, [['a']], 'appName'));
  expect(await countOf(`segment_list_piece where segment = ${id}`)).toBe(0);
  await refusedWith('NoAccessError', () =>
    features.call(RemoveSegmentIds, { params: { id }, query: { all: true }, body: null }, lee),
  );
});

it('changes a list only where If-Match names the segment as it is', async () => {
  await edit(ReplaceSegmentList, ['a'], 'userId');
  const body = await stage(AddSegmentIds, [['b']]);
  const ifMatch = ['stale'];
  await expect(features.call(AddSegmentIds, { params: { id }, body }, mia, { ifMatch })).rejects.toMatchObject({
    kind: 'PreconditionFailed',
  });
  expect(await list()).toEqual(['a']);
});

it('refuses a list of a segment that is used in a protected environment, as other edits of it', async () => {
  const name = `flag-${id}`;
  await features.create(name);
  const params = { projectId: 'default', featureName: name, environment: 'production' };
  await features.call(AddStrategy, { params, body: { name: 'default', segments: [id] } });
  await sql(
    `insert into protected_environment (project, environment, is_protected, version) values ('default', 'production', true, 1)
    on conflict (project, environment) do update set is_protected = true`,
  );
  try {
    const editor = callerWith({ permission: 'UPDATE_SEGMENT' });
    await expect(edit(ReplaceSegmentList, ['a'], 'userId', editor)).rejects.toMatchObject({ kind: 'NoAccessError' });
    await edit(ReplaceSegmentList, ['a'], 'userId');
    expect((await features.emittedEvents()).at(-1)?.data).toMatchObject({ bypassedChangeRequest: true });
    const remove = () => features.call(RemoveSegmentIds, { params: { id }, query: { all: true }, body: null }, editor);
    await expect(remove()).rejects.toMatchObject({ kind: 'NoAccessError' });
  } finally {
    await sql('update protected_environment set is_protected = false');
  }
});

it('an approval does not count for a list that was changed after it', async () => {
  await edit(ReplaceSegmentList, ['tester'], 'userId');
  const feature = `flag-${id}`;
  await features.create(feature);
  const payload = { name: 'default', constraints: [], parameters: {}, segments: [id] };
  const changes = [{ id: 1, change: { action: 'addStrategy', feature, payload } as Change, snapshot: null }];
  const request = { environment: 'production', changes };
  const preview = { project: 'default', withStates: false, requests: [request] };
  const approvedBases = [(await features.call(PreviewChanges, { body: preview })).previews[0]?.preview.basis ?? ''];
  const attempt = { attempt: 1, project: 'default', ...request, refuseOverwrites: false, approvedBases };
  const apply = (changeRequestId: number) => features.call(ApplyChanges, { body: { ...attempt, changeRequestId } });
  for (const change of [
    () => edit(AddSegmentIds, ['everybody']),
    () => edit(ReplaceSegmentList, ['tester'], 'sessionId'),
    () => features.call(RemoveSegmentIds, { params: { id }, query: { all: true }, body: null }),
  ]) {
    await change();
    expect(await apply(1)).toMatchObject({ outcome: 'conflict', conflicts: [{ code: 'approvals-missing' }] });
  }
  await edit(ReplaceSegmentList, ['tester'], 'userId');
  expect(await apply(2)).toMatchObject({ outcome: 'applied' });
});

it('the playground evaluates lists', async () => {
  await edit(ReplaceSegmentList, ['ann', 'bob'], 'userId');
  const name = `flag-${id}`;
  await features.create(name);
  const params = { projectId: 'default', featureName: name, environment: 'development' };
  await features.call(AddStrategy, { params, body: { name: 'default', segments: [id] } });
  const isOnFor = async (context: Record<string, string>) => {
    const body = { environment: 'development', context: { appName: 'spec', ...context } };
    const found = (await features.call(EvaluatePlayground, { body })).features.find((one) => one.name === name);
    return found?.strategies.result;
  };
  expect([await isOnFor({ userId: 'ann' }), await isOnFor({ userId: 'eve' }), await isOnFor({})]).toEqual([
    true,
    false,
    false,
  ]);
});

it('releases the blocks of lists that were replaced or deleted, and no others', async () => {
  await edit(ReplaceSegmentList, ['kept', 'shared'], 'userId');
  const first = await features.call(GetSegmentList, { params: { id } });
  const other = id;
  id = await newSegment();
  await edit(ReplaceSegmentList, ['kept', 'shared'], 'userId');
  await edit(ReplaceSegmentList, ['new'], 'userId');
  const second = await features.call(GetSegmentList, { params: { id } });
  await features.call(DeleteSegment, { params: { id } });
  const isReleased = async (block: string | undefined) =>
    (await countOf(`segment_block where hash = decode('${block}', 'hex') and released_at is not null`)) === 1;
  expect(await isReleased(second.blocks[0])).toBe(true);
  await sql("update segment_block set released_at = now() - interval '2 days'");
  const { transaction, database } = await testUnitOfWork(features.url);
  await runHousekeeping(transaction, 90);
  await database.close();
  expect(await blocksOf(second.blocks)).toEqual([]);
  const [kept] = await blocksOf(first.blocks);
  expect(idsOfBlock(decodeIdBlock(kept as never))).toEqual(['kept', 'shared']);
  expect(await isReleased(first.blocks[0])).toBe(false);
  id = other;
  expect(await list()).toEqual(['kept', 'shared']);
});

it('a block with another content than its hash names is found out', () => {
  const { hash: named } = encodeIdBlock(['a']);
  const { content } = encodeIdBlock(['b']);
  expect(() => decodeIdBlock({ hash: named, content })).toThrow(/differs from its hash/);
  expect(() => decodeRootBlock({ hash: named, content })).toThrow(/differ from their hash/);
});
