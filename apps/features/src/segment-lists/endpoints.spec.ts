import { hash, randomBytes } from 'node:crypto';
import {
  AddSegmentIds,
  AddStrategy,
  type AnyOperation,
  ApplyChanges,
  CheckChanges,
  EvaluateImpact,
  FindNeededSegmentLists,
  SetProtection,
  type StagedSegmentList,
  type Caller,
  type Change,
  CreateContextField,
  CreateSegment,
  DeleteSegment,
  DiscardSegmentIds,
  EvaluatePlayground,
  GetSegment,
  GetSegmentBlocks,
  GetSegmentList,
  ListProposedSegmentStrategies,
  EnableFeature,
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
import { type Endpoint, implement, inProcessBus, serve } from '@bunting/bus';
import { beforeEach, describe, expect, it } from 'vitest';
import { testUnitOfWork } from '../../test/features-unit-of-work.ts';
import { callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';
import { deleteUnneededStagedLists, runHousekeeping } from '../housekeeping/background.ts';

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
  more: { readonly staged?: true } = {},
) => {
  const upload = randomBytes(16).toString('hex');
  const query = { ...(contextName === undefined ? {} : { contextName }), ...more };
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
  more: { readonly staged?: true } = {},
): Promise<SegmentListChange> => {
  const body = await stage(operation, ids.length === 0 ? [] : [ids], contextName, caller, more);
  const query = { ...(contextName === undefined ? {} : { contextName }), ...more };
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
  // A row that is written again has another transaction.
  const written = async () =>
    new Map(
      (await sql<{ hash: string; xmin: string }>('select hash, xmin from segment_block')).map((row) => [
        String(row.hash),
        row.xmin,
      ]),
    );
  const writtenBefore = await written();
  await edit(AddSegmentIds, ['one more']);
  const after = await features.call(GetSegmentList, { params: { id } });
  expect(after.blocks.filter((block) => !before.blocks.includes(block))).toHaveLength(1);
  // The block with the new id, and the list of blocks; those that are no longer used are marked.
  const rewritten = [...(await written())].filter(([hash, xmin]) => writtenBefore.get(hash) !== xmin);
  expect(rewritten.length).toBeLessThanOrEqual(4);
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

describe('a list that was uploaded for a change request', () => {
  const upload = async (operation: ListEdit, ids: readonly string[], contextName?: string, caller: Caller = mia) => {
    const { staged } = await edit(operation, ids, contextName, caller, { staged: true });
    if (staged === undefined) throw new Error('Nothing was staged.');
    return { ...staged, root: staged.root ?? '' };
  };
  const changeOf = (staged: StagedSegmentList): Change => ({ action: 'updateSegmentList', payload: { id, ...staged } });
  const location = { project: 'default', environment: 'development' };
  const check = async (change: Change) => {
    const body = { ...location, changes: [change], earlier: [] };
    const [checked] = (await features.call(CheckChanges, { body }, systemCaller)).changes;
    return checked?.payload as StagedSegmentList;
  };
  let nthRequest = 1_000;
  const apply = (...changes: Change[]) => {
    const withIds = changes.map((change, nth) => ({ id: nth + 1, change, snapshot: null }));
    const body = { ...location, changeRequestId: ++nthRequest, attempt: 1, changes: withIds, refuseOverwrites: true };
    return features.call(ApplyChanges, { body }, systemCaller);
  };
  const needs = (...lists: readonly { readonly root: string }[]) => [
    implement(FindNeededSegmentLists, async ({ body }) => ({
      lists: body.lists.filter((one) => lists.some(({ root }) => root === one.root)),
    })),
  ];
  const housekeep = async (endpoints: readonly Endpoint[]) => {
    const bus = inProcessBus();
    await serve(bus, endpoints, { checkReplies: true });
    const { transaction, database } = await testUnitOfWork(features.url);
    await deleteUnneededStagedLists(transaction, bus);
    await runHousekeeping(transaction, 90);
    await database.close();
  };
  beforeEach(async () => {
    id = await newSegment({ project: 'default' });
    await features.clearOutbox();
  });

  it('changes nothing until it is applied, and then all at once, with the numbers that were reviewed', async () => {
    await edit(ReplaceSegmentList, ['a', 'b'], 'userId');
    await features.clearOutbox();
    const { list: before, ...difference } = await edit(ReplaceSegmentList, ['b', 'c', 'd'], undefined, mia, {
      staged: true,
    });
    expect(before).toMatchObject({ size: 2 });
    expect(difference).toMatchObject({
      added: 2,
      removed: 1,
      staged: { size: 3, added: 2, removed: 1, replaced: before },
    });
    expect(await list()).toEqual(['a', 'b']);
    expect(await features.emittedEvents()).toEqual([]);

    const { contextName = null } = difference.staged ?? {};
    const root = difference.staged?.root ?? '';
    expect(await idsOf(await features.call(GetSegmentList, { params: { id }, query: { staged: root } }))).toEqual([
      'b',
      'c',
      'd',
    ]);
    for (const unknown of ['0'.repeat(64), `${root.slice(0, 62)}zz`])
      await expect(features.call(GetSegmentList, { params: { id }, query: { staged: unknown } })).rejects.toMatchObject(
        { kind: 'NotFoundError' },
      );
    const payload = await check({ action: 'updateSegmentList', payload: { id, root, contextName } });
    expect(payload).toEqual({ id, ...difference.staged });
    expect(await apply(changeOf(payload))).toMatchObject({ outcome: 'applied', inverse: [] });
    expect(await list()).toEqual(['b', 'c', 'd']);
    const { list: after } = await features.call(GetSegment, { params: { id } });
    const events = await features.emittedEvents();
    expect(events).toMatchObject([
      {
        type: 'segment-updated',
        data: { list: after, listChange: { added: 2, removed: 1 }, changeRequestId: nthRequest },
        preData: { list: before },
      },
    ]);
    expect(await lastDelivered()).toMatchObject({ list: { root, size: 3 } });
  });

  it('may be what a request adds or removes, and stands beside other changes of the segment', async () => {
    const first = await upload(ReplaceSegmentList, ['a', 'b'], 'userId');
    expect(first.replaced).toBeNull();
    const renamed: Change = { action: 'updateSegment', payload: { id, name: `renamed-${id}`, constraints: [] } };
    expect(await apply(renamed, changeOf(first))).toMatchObject({ outcome: 'applied' });
    expect(await features.call(GetSegment, { params: { id } })).toMatchObject({
      name: `renamed-${id}`,
      list: { size: 2 },
    });
    await apply(changeOf(await upload(AddSegmentIds, ['c'])));
    await apply(changeOf(await upload(RemoveSegmentIds, ['a'])));
    expect(await list()).toEqual(['b', 'c']);
    expect(await edit(AddSegmentIds, ['b'], undefined, mia, { staged: true })).not.toHaveProperty('staged');
  });

  it('is removed for everybody to match again, as a change that is reviewed with how many ids it had', async () => {
    await edit(ReplaceSegmentList, ['a', 'b'], 'userId');
    await features.clearOutbox();
    const propose = () =>
      features.call(RemoveSegmentIds, { params: { id }, query: { all: true, staged: true }, body: null });
    const { list: before, staged } = await propose();
    expect(staged).toEqual({ contextName: null, root: null, size: 0, added: 0, removed: 2, replaced: before });
    expect(await list()).toEqual(['a', 'b']);
    const removal = { action: 'updateSegmentList', payload: { id, contextName: null, root: null } } as const;
    const payload = await check(removal);
    expect(payload).toEqual({ id, ...staged });

    await edit(AddSegmentIds, ['c']);
    expect(await apply(changeOf(payload))).toMatchObject({
      outcome: 'conflict',
      conflicts: [{ code: 'segment-list', segment: id }],
    });
    const { staged: again } = await propose();
    await features.clearOutbox();
    expect(await apply(changeOf(again as StagedSegmentList))).toMatchObject({ outcome: 'applied', inverse: [] });
    expect(await features.call(GetSegment, { params: { id } })).not.toHaveProperty('list');
    expect(await lastDelivered()).not.toHaveProperty('list');
    expect(await features.emittedEvents()).toMatchObject([
      { type: 'segment-updated', data: { listChange: { added: 0, removed: 3 }, changeRequestId: nthRequest } },
    ]);
    expect(await propose()).not.toHaveProperty('staged');
    await expect(check(removal)).rejects.toMatchObject({ kind: 'ValidationError' });
  });

  it('is not applied once the list has changed, or with other ids or numbers than were reviewed', async () => {
    await edit(ReplaceSegmentList, ['a'], 'userId');
    const reviewed = await upload(AddSegmentIds, ['b']);
    await edit(AddSegmentIds, ['c']);
    const refused = { outcome: 'conflict', conflicts: [{ code: 'segment-list', segment: id }] };
    expect(await apply(changeOf(reviewed))).toMatchObject(refused);
    await expect(check(changeOf(reviewed))).rejects.toMatchObject({ kind: 'ValidationError' });
    // The same ids again, whose numbers are others now.
    const again = await upload(ReplaceSegmentList, ['a', 'b']);
    expect(again.root).toBe(reviewed.root);
    expect(await apply(changeOf(reviewed))).toMatchObject(refused);
    for (const foreign of [{ root: '0'.repeat(64) }, { root: 'z'.repeat(64) }, { contextName: 'sessionId' }])
      expect(await apply(changeOf({ ...again, ...foreign }))).toMatchObject(refused);
    expect(await list()).toEqual(['a', 'c']);
    expect(await apply(changeOf(again))).toMatchObject({ outcome: 'applied' });
  });

  it('needs the rights of an edit, but not those to skip change requests', async () => {
    await features.call(SetProtection, { body: { ...location, isProtected: true, version: 1 } }, systemCaller);
    try {
      const editor = callerWith({ permission: 'UPDATE_PROJECT_SEGMENT', project: 'default' });
      await expect(edit(ReplaceSegmentList, ['a'], 'userId', editor)).rejects.toMatchObject({ kind: 'NoAccessError' });
      const staged = await upload(ReplaceSegmentList, ['a'], 'userId', editor);
      await expect(upload(ReplaceSegmentList, ['a'], 'userId', callerWith())).rejects.toMatchObject({
        kind: 'NoAccessError',
      });
      const body = { ...location, authorisedEnvironments: [], attempt: 1, refuseOverwrites: true };
      const changes = [{ id: 1, change: changeOf(staged), snapshot: null }];
      const applied = (authorisedEnvironments: string[]) =>
        features.call(
          ApplyChanges,
          { body: { ...body, authorisedEnvironments, changes, changeRequestId: ++nthRequest } },
          systemCaller,
        );
      expect(await applied([])).toMatchObject({ outcome: 'conflict', conflicts: [{ code: 'approvals-missing' }] });
      expect(await applied(['development'])).toMatchObject({ outcome: 'applied' });
    } finally {
      await features.call(SetProtection, { body: { ...location, isProtected: false, version: 2 } }, systemCaller);
    }
  });

  it('is refused for a segment of every project, which no change request changes', async () => {
    id = await newSegment();
    await expect(upload(ReplaceSegmentList, ['a'], 'userId')).rejects.toMatchObject({ kind: 'ValidationError' });
  });

  it('stays as long as an open change request names it, with its blocks, and goes once none does', async () => {
    const [needed, unneeded] = [
      await upload(ReplaceSegmentList, ['kept'], 'userId'),
      await upload(ReplaceSegmentList, ['dropped'], 'userId'),
    ];
    await sql("update segment_block set released_at = now() - interval '2 days'");
    await housekeep(needs());
    expect(await countOf(`staged_segment_list where segment = ${id}`)).toBe(2);
    await sql("update staged_segment_list set kept_until = now() - interval '1 minute'");
    const olderVersion = implement(ListProposedSegmentStrategies, async () => ({ changeRequestStrategies: [] }));
    await housekeep([olderVersion]);
    expect(await countOf(`staged_segment_list where segment = ${id}`)).toBe(2);
    await housekeep(needs(needed));
    await sql("update segment_block set released_at = now() - interval '2 days' where released_at is not null");
    await housekeep(needs(needed));
    expect(await blocksOf([unneeded.root])).toEqual([]);
    expect(await apply(changeOf(unneeded))).toMatchObject({
      outcome: 'conflict',
      conflicts: [{ code: 'segment-list' }],
    });
    expect(await apply(changeOf(needed))).toMatchObject({ outcome: 'applied' });
    expect(await list()).toEqual(['kept']);
    // The blocks belong to the list now, whatever becomes of the upload.
    await sql("update staged_segment_list set kept_until = now() - interval '1 minute'");
    await housekeep(needs());
    await sql("update segment_block set released_at = now() - interval '2 days' where released_at is not null");
    await housekeep(needs());
    expect(await countOf('staged_segment_list')).toBe(0);
    expect(await list()).toEqual(['kept']);
  });

  it('is what the impact of a change on example users is worked out with', async () => {
    const name = `flag-${id}`;
    await features.create(name);
    await edit(ReplaceSegmentList, ['ann'], 'userId');
    const params = { projectId: 'default', featureName: name, environment: 'development' };
    await features.call(AddStrategy, { params, body: { name: 'default', segments: [id] } });
    await features.call(EnableFeature, { params });
    const changes = changeOf(await upload(ReplaceSegmentList, ['bob'], 'userId'));
    const contexts = ['ann', 'bob'].map((userId) => ({ appName: 'spec', userId }));
    const impact = await features.call(EvaluateImpact, { body: { ...location, changes, contexts } });
    expect(impact.features.find((one) => one.name === name)).toMatchObject({
      examples: [
        { before: { isEnabled: true }, after: { isEnabled: false } },
        { before: { isEnabled: false }, after: { isEnabled: true } },
      ],
    });
  });
});

it('deletes what is stored of an upload that failed, and nothing of others', async () => {
  const failed = await stage(ReplaceSegmentList, [['a'], ['b']], 'userId');
  const other = await stage(ReplaceSegmentList, [['c']], 'userId');
  await features.call(DiscardSegmentIds, { body: { upload: failed.upload } }, systemCaller);
  expect(await countOf(`segment_list_piece where upload = '${failed.upload}'`)).toBe(0);
  await features.call(ReplaceSegmentList, { params: { id }, query: { contextName: 'userId' }, body: other });
  expect(await list()).toEqual(['c']);
});

describe('the lists of all segments together', () => {
  const small = useFeatures({ FEATURES_MAX_SEGMENT_LISTS_MIB: '1' });
  const half = Array.from({ length: 5_000 }, (_, nth) => String(nth).padStart(119, 'x'));

  it('are refused beyond the limit, also when staged or applied, and a list that shrinks never is', async () => {
    const put = async (segment: number, ids: readonly string[], more: { readonly staged?: true } = {}) => {
      const upload = randomBytes(16).toString('hex');
      const query = { contextName: 'userId', ...more };
      const params = { id: segment };
      await small.call(StageSegmentIds, {
        params,
        query,
        body: { action: 'replace', upload, piece: 0, ids: [...ids] },
      });
      const text = ids.map((one) => `${one}\n`).join('');
      const body = { upload, pieces: 1, received: ids.length, bytes: text.length, hash: hash('sha256', text, 'hex') };
      return small.call(ReplaceSegmentList, { params, query, body });
    };
    const [first, second] = [
      await small.call(CreateSegment, { body: { name: 'first', constraints: [] } }),
      await small.call(CreateSegment, { body: { name: 'second', constraints: [], project: 'default' } }),
    ];
    const refused = { kind: 'ExceedsLimitError', message: expect.stringContaining('FEATURES_MAX_SEGMENT_LISTS_MIB') };
    await put(first.id, half);
    const { staged } = await put(second.id, half, { staged: true });
    await expect(put(second.id, half)).rejects.toMatchObject(refused);
    await expect(put(second.id, [...half.slice(1), 'other'], { staged: true })).rejects.toMatchObject(refused);
    const change = { action: 'updateSegmentList', payload: { id: second.id, ...staged } } as Change;
    const location = { project: 'default', environment: 'development', attempt: 1, refuseOverwrites: true };
    const body = { ...location, changeRequestId: 1, changes: [{ id: 1, change, snapshot: null }] };
    const applied = await small.call(ApplyChanges, { body }, systemCaller);
    expect(applied).toMatchObject({ outcome: 'conflict', conflicts: [{ message: refused.message }] });
    expect(await put(first.id, half.slice(1))).toMatchObject({ removed: 1 });
    await put(first.id, half.slice(4_000));
    expect(await put(second.id, half)).toMatchObject({ added: 5_000 });
  });
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
