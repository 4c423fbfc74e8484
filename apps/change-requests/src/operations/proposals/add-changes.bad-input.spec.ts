import { AddChanges, type ChangeAction } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
afterAll(() => service.stop());

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const strategy = { name: 'default', constraints: [], parameters: {} };

/** The refusal of a body, which stores and emits nothing. */
const refusalOf = async (body: unknown, projectId = 'shop', environment = 'production') => {
  const stored = await service.stored();
  const refused = await service.call(AddChanges, { params: { projectId, environment }, body }, callers.lee).then(
    () => Promise.reject(new Error('The body was taken.')),
    (error: { kind: string; message: string; details: unknown }) => error,
  );
  expect(await service.stored()).toEqual(stored);
  return refused;
};

describe('a body that proposes changes', () => {
  it.each<[string, unknown, string]>([
    ['text', 'updateEnabled', '/body'],
    ['a number', 7, '/body'],
    ['null', null, '/body'],
    ['nothing', undefined, '/body'],
    ['an empty list', [], '/body'],
    ['a list of text', ['updateEnabled'], '/body/0'],
    ['201 changes', Array.from({ length: 201 }, () => enable), '/body'],
    ['1,000 changes', Array.from({ length: 1_000 }, () => enable), '/body'],
    ['a change without action', { feature: 'checkout', payload: {} }, '/body/action'],
    ['an unknown action', { ...enable, action: 'deleteFeature' }, '/body/action'],
    ['the name of a member of every object as action', { ...enable, action: 'constructor' }, '/body/action'],
    ['an action in other letters', [enable, { ...enable, action: 'UpdateEnabled' }], '/body/1/action'],
    ['a feature action without feature', { action: 'updateEnabled', payload: { enabled: true } }, '/body/feature'],
    ['a feature that is no text', { ...enable, feature: { name: 'checkout' } }, '/body/feature'],
  ])('is refused when it is %s', async (_, body, path) => {
    const { kind, message } = await refusalOf(body);
    expect(kind).toBe('ValidationError');
    expect(message).toContain(`\`${path}\``);
  });

  it.each<[ChangeAction, unknown, string]>([
    ['updateSegment', { name: 'beta' }, '/payload/id'],
    ['updateSegment', { id: 4, name: 7 }, '/payload/name'],
    [
      'updateSegment',
      { id: 4, constraints: [{ contextName: 'userId', operator: 'LIKE' }] },
      '/payload/constraints/0/operator',
    ],
    ['deleteSegment', { id: '4' }, '/payload/id'],
    ['deleteSegment', undefined, '/payload'],
    ['updateEnabled', { enabled: 'true' }, '/payload/enabled'],
    [
      'updateEnabled',
      { enabled: true, shouldActivateDisabledStrategies: 1 },
      '/payload/shouldActivateDisabledStrategies',
    ],
    ['addStrategy', { name: 'default', parameters: {} }, '/payload/constraints'],
    ['addStrategy', { name: 'default', constraints: [] }, '/payload/parameters'],
    ['addStrategy', { ...strategy, name: null }, '/payload/name'],
    ['addStrategy', { ...strategy, segments: ['4'] }, '/payload/segments/0'],
    ['addStrategy', { ...strategy, parameters: { rollout: null } }, '/payload/parameters/rollout'],
    ['addStrategy', { ...strategy, variants: [{ name: 'a', weight: 1001 }] }, '/payload/variants/0'],
    ['updateStrategy', { title: 'a' }, '/payload/id'],
    ['updateStrategy', { id: 'in-production', disabled: 'no' }, '/payload/disabled'],
    ['deleteStrategy', {}, '/payload/id'],
    ['archiveFeature', { enabled: true }, '/payload'],
    ['patchVariant', { variants: {} }, '/payload/variants'],
    ['patchVariant', { variants: [{ name: 'a', weight: -1 }] }, '/payload/variants/0/weight'],
    ['reorderStrategy', { id: 'in-production', sortOrder: 1 }, '/payload'],
    ['reorderStrategy', [{ id: 'in-production' }], '/payload/0/sortOrder'],
    ['addDependency', { enabled: true }, '/payload/feature'],
    ['addDependency', { feature: 'banner', variants: 'a' }, '/payload/variants'],
    ['deleteDependency', { feature: 'banner' }, '/payload'],
  ])('is refused when %s has a payload like %j, and the message names the property', async (action, payload, path) => {
    const { kind, message } = await refusalOf([enable, { action, feature: 'checkout', payload }]);
    expect(kind).toBe('ValidationError');
    expect(message).toContain(`/body/1${path}`);
  });

  it('is refused with a key that could become a prototype', async () => {
    const parameters: unknown = JSON.parse('{"__proto__": "5"}');
    const body = [{ action: 'addStrategy', feature: 'checkout', payload: { ...strategy, parameters } }];
    const { kind, message } = await refusalOf(body);
    expect(kind).toBe('ValidationError');
    expect(message).toContain('`/body/0/payload/parameters/__proto__`');
  });

  it.each<[string, unknown, string]>([
    ['an unknown feature', { ...enable, feature: 'nowhere' }, 'NotFoundError'],
    ['a feature of another project', { ...enable, feature: 'engine' }, 'NotFoundError'],
    [
      'an unknown strategy',
      { action: 'deleteStrategy', feature: 'checkout', payload: { id: 'none' } },
      'NotFoundError',
    ],
    [
      'a strategy of another environment',
      { action: 'updateStrategy', feature: 'checkout', payload: { id: 'in-development', title: 'a' } },
      'NotFoundError',
    ],
    [
      'a strategy of another feature',
      { action: 'deleteStrategy', feature: 'banner', payload: { id: 'in-production' } },
      'NotFoundError',
    ],
    ['an unknown segment', { action: 'deleteSegment', payload: { id: 99 } }, 'NotFoundError'],
    ['a segment of another project', { action: 'updateSegment', payload: { id: 5, name: 'mine' } }, 'ValidationError'],
    ['one bad change among good ones', [enable, { ...enable, feature: 'nowhere' }, enable], 'NotFoundError'],
  ])('is refused as a whole when it names %s', async (_, body, kind) => {
    expect((await refusalOf(body)).kind).toBe(kind);
  });

  it.each([
    ['an unknown project', 'nowhere', 'production'],
    ['an unknown environment', 'shop', 'nowhere'],
    ['an environment that the project is not linked to', 'garage', 'development'],
  ])('is refused as not found for %s', async (_, projectId, environment) => {
    expect((await refusalOf(enable, projectId, environment)).kind).toBe('NotFoundError');
  });

  it('is refused when it updates what the request deletes', async () => {
    const named = { feature: 'checkout', payload: { id: 'in-production' } };
    const body = [
      { action: 'deleteStrategy', ...named },
      { action: 'updateStrategy', ...named },
    ];
    expect(await refusalOf(body)).toMatchObject({
      kind: 'ValidationError',
      message: 'Strategy is deleted by this change request: the `/body/1/payload/id` property names it.',
      details: [{ path: '/body/1/payload/id' }],
    });
  });

  it('is refused when the request would hold more than 500 changes', async () => {
    const add = { action: 'addStrategy', feature: 'checkout', payload: strategy };
    const many = Array.from({ length: 200 }, () => add);
    for (const body of [many, many, many.slice(0, 99)]) await service.add(body, callers.lee);
    expect(await refusalOf([add, add])).toMatchObject({ kind: 'ConflictError' });
    const full = await service.add(add, callers.lee);
    expect(full.features[0]?.changes).toHaveLength(500);
  });

  it('is accepted without properties that are no part of a change, such as a comment', async () => {
    const request = await service.add({ ...enable, comment: 'Please look at this', id: 99 }, callers.kim);
    expect(request.comments).toEqual([]);
    expect(JSON.stringify(request)).not.toContain('Please look');
    expect(service.features.checkRequests.at(-1)?.changes).toEqual([enable]);
  });

  it('keeps text that looks like SQL or Markdown unchanged', async () => {
    const title = `'; drop table change; -- $1 %s \\ " <b> 🏁 \u{1F468}\u200D\u{1F469} ${'x'.repeat(10_000)}`;
    const body = { action: 'addStrategy', feature: 'banner', payload: { ...strategy, title } };
    await service.add(body, callers.kim);
    const [pending] = await service.pending(callers.kim);
    expect(pending?.features.at(-1)?.changes[0]?.payload).toMatchObject({ title });
  });
});
