import { implement, serve } from '@bunting/bus';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type Change,
  type Constraint,
  CreateProject,
  CreateContextField,
  CreateSegment,
  EvaluateAdvancedPlayground,
  EvaluatePlaygroundTable,
  ReadProposedChanges,
} from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
/** The changes of every change request. */
let proposed: readonly Change[] = [];
beforeAll(async () => {
  features = await startFeatures();
  const changes = implement(ReadProposedChanges, async () => ({
    project: 'shop',
    environment: 'development',
    changes: proposed.map((change, id) => ({ id, change, snapshot: null })),
  }));
  await serve(features.bus, [changes]);
  await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
});
afterAll(() => features.stop());
beforeEach(() =>
  features.database.transaction(({ query }) => query('truncate feature, segment restart identity cascade')),
);

const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };
const on = { enabled: true, strategies: [aStrategy()] };
const table = (more: object = {}, caller = mia) =>
  features.call(
    EvaluatePlaygroundTable,
    { body: { environments: ['development'], contexts: [{ country: 'no,se' }, { userId: '7' }], ...more } },
    caller,
  );
const namesOf = ({ features: found }: Awaited<ReturnType<typeof table>>) => found.map(({ name }) => name);
const cell = (isEnabled: boolean) => ({ isEnabled, variant: null, isUnknown: false });

it('shows each flag of a page by environment, for every combination of values of each context', async () => {
  await features.given(
    aFeature({ enabled: true, strategies: [aStrategy({ constraints: [inNorway] })] }),
    aFeature({ enabled: true, strategies: [aStrategy({ name: 'ourOwn' })], name: 'own' }),
  );
  const found = await table({ contexts: [{ country: 'no,se' }, { userId: '7', broken: {} }] });
  expect(found).toEqual({
    contexts: [{ country: 'no' }, { country: 'se' }, { userId: '7' }],
    features: [
      {
        name: 'checkout',
        projectId: 'shop',
        environments: { development: [cell(true), cell(false), cell(false)] },
      },
      {
        name: 'own',
        projectId: 'shop',
        environments: { development: Array.from({ length: 3 }, () => ({ ...cell(false), isUnknown: true })) },
      },
    ],
    total: 2,
    next: null,
    warnings: { invalidContextProperties: ['broken'] },
  });
});

it('shows flags page by page, by project, name and text, with the result of flags that they depend on', async () => {
  const dependencies = [{ feature: 'parent', enabled: true, variants: [] }];
  await features.given(
    ...['Alpha', 'beta', 'gamma'].map((name) => aFeature({ ...on, name, dependencies })),
    aFeature({ name: 'parent' }),
    aFeature({ ...on, name: 'other', project: 'default' }),
  );
  const first = await table({ projects: ['shop'], limit: 2 });
  expect([namesOf(first), first.total]).toEqual([['Alpha', 'beta'], 4]);
  expect(first.features[0]?.environments['development']?.[0]).toEqual(cell(false));
  const second = await table({ projects: ['shop'], limit: 2, after: first.next ?? '' });
  expect([namesOf(second), second.next]).toEqual([['gamma', 'parent'], null]);
  expect(namesOf(await table({ query: 'ALPH' }))).toEqual(['Alpha']);
  expect(namesOf(await table({ features: ['beta', 'no such flag'] }))).toEqual(['beta']);
  expect(namesOf(await table({ features: ['beta', 'other'] }, { ...mia, hiddenProjects: ['shop'] }))).toEqual([
    'other',
  ]);
});

it('shortens pages that would take too many evaluations, and refuses more contexts than one flag can have', async () => {
  await features.given(...Array.from({ length: 4 }, (_, nth) => aFeature({ name: `flag-${nth}` })));
  const userId = Array.from({ length: 5_000 }, (_, id) => id).join();
  const found = await table({ contexts: [{ userId }] });
  expect([namesOf(found), found.next, found.total]).toEqual([['flag-0', 'flag-1', 'flag-2'], 'flag-2', 4]);
  await expect(table({ contexts: Array.from({ length: 4 }, () => ({ userId })) })).rejects.toThrow(
    /at most 15000 evaluations/,
  );
  await expect(table({ environments: ['moon'] })).rejects.toThrow(/Could not find environment/);
});

it('shows what a change request would change, in flags that it changes, that use its segment, or depend on them', async () => {
  await features.call(CreateContextField, { body: { name: 'country' } });
  const { id: segment } = await features.call(CreateSegment, {
    body: { name: 'north', project: 'shop', constraints: [inNorway] },
  });
  const dependencies = [{ feature: 'parent', enabled: true, variants: [] }];
  await features.given(
    aFeature({ ...on, name: 'child', dependencies }),
    aFeature({ name: 'parent', strategies: [aStrategy()] }),
    aFeature({ enabled: true, name: 'segmented', strategies: [aStrategy({ segments: [segment] })] }),
    aFeature({ ...on, name: 'leaving' }),
    aFeature({ ...on, name: 'same' }),
  );
  proposed = [
    { feature: 'parent', action: 'updateEnabled', payload: { enabled: true } },
    { feature: 'leaving', action: 'archiveFeature', payload: {} },
    {
      action: 'updateSegment',
      payload: { id: segment, name: 'north', project: 'shop', constraints: [{ ...inNorway, values: ['se'] }] },
    },
  ] as readonly Change[];
  const differences = async (more: object = {}) => {
    const found = await table({ changeRequest: 1, contexts: [{ country: 'no,se' }], ...more });
    return found.features.map(({ name, environments }) => [
      name,
      ...(environments['development'] ?? []).map(
        ({ isEnabled, proposed: after }) => `${isEnabled}${after === undefined ? '' : ` → ${after.isEnabled}`}`,
      ),
    ]);
  };
  const changing = [
    ['child', 'false → true', 'false → true'],
    ['leaving', 'true → false', 'true → false'],
    ['parent', 'false → true', 'false → true'],
  ];
  const segmented = ['segmented', 'true → false', 'false → true'];
  expect(await differences()).toEqual([...changing, ['same', 'true', 'true'], segmented]);
  expect(await differences({ onlyConcerned: true })).toEqual([...changing, segmented]);
});

it('says why one flag is on or off, with the flags that it depends on', async () => {
  const dependencies = [{ feature: 'parent', enabled: true, variants: ['blue'] }];
  await features.given(
    aFeature({ ...on, name: 'child', dependencies }),
    aFeature({ ...on, name: 'parent' }),
    aFeature(),
  );
  const body = { environments: ['development'], features: ['child'], context: {} };
  const { features: found } = await features.call(EvaluateAdvancedPlayground, { body });
  expect(found).toMatchObject([
    {
      name: 'child',
      environments: {
        development: [{ isEnabled: false, dependencies: [{ feature: 'parent', variants: ['blue'], result: false }] }],
      },
    },
  ]);
});
