import { randomUUID } from 'node:crypto';
import {
  type Constraint,
  CreateProject,
  CreateSegment,
  type ExportedFeatures,
  ExportFeatures,
  type ExportFeaturesBody,
  GetContextField,
  ImportFeatures,
  type ImportFeaturesBody,
  ListFeatures,
  type Permission,
  type Refusal,
  UpdateProjectSettings,
  ValidateImport,
} from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy, otherMetadata } from '../../test/builders.ts';
import { callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';

describe('importing features', () => {
  const features = useFeatures();
  beforeEach(async () => {
    await features.database.transaction(({ query }) => query('truncate feature, segment, tag cascade'));
    await features.clearOutbox();
  });

  const bringIn = (data: ExportedFeatures, about: Partial<ImportFeaturesBody> = {}, caller = mia) =>
    features.call(ImportFeatures, { body: { project: 'default', environment: 'development', data, ...about } }, caller);

  /** An export of `size` features, each enabled, with a strategy, a segment and a tag; all but the first depend on the first. */
  const exported = (count: number, environment = 'development'): ExportedFeatures => {
    const names = Array.from({ length: count }, (_, nth) => `feature-${String(nth).padStart(4, '0')}`);
    const constraint: Constraint = { contextName: 'region', operator: 'IN', values: ['eu'] };
    return {
      features: names.map((name) => ({ name, type: 'release', project: 'elsewhere', description: name })),
      featureStrategies: names.map((featureName) => ({
        featureName,
        name: 'flexibleRollout',
        sortOrder: 0,
        segments: [70],
        constraints: [constraint],
        parameters: { rollout: '50', stickiness: 'default', groupId: featureName },
      })),
      featureEnvironments: names.map((featureName) => ({ featureName, environment, enabled: true })),
      contextFields: [
        { name: 'region', stickiness: false, sortOrder: 9, legalValues: [{ value: 'eu' }, { value: 'us' }] },
      ],
      featureTags: names.map((featureName) => ({ featureName, tagType: 'team', tagValue: 'payments' })),
      segments: [{ id: 70, name: 'beta' }],
      tagTypes: [{ name: 'team', description: 'who looks after it' }],
      dependencies: names.slice(1).map((feature) => ({ feature, dependencies: [{ feature: names[0] ?? '' }] })),
    };
  };

  const beta = () => features.call(CreateSegment, { body: { name: 'beta', constraints: [] } });
  const refusalOf = async (attempt: Promise<unknown>): Promise<Refusal> =>
    attempt.then(
      () => {
        throw new Error('It was not refused.');
      },
      (refusal: Refusal) => refusal,
    );
  const namesNow = async () =>
    (await features.call(ListFeatures, { params: { projectId: 'default' } })).features.map(({ name }) => name);

  it('imports features of type sunset, also from later versions of Unleash', async () => {
    await features.create('old-checkout', { type: 'sunset' });
    const none = { segments: [], contextFields: [], tagTypes: [] };
    await bringIn({ ...exported(0), ...none, features: [{ name: 'feature-0000', type: 'sunset' }] });
    const { features: listed } = await features.call(ListFeatures, { params: { projectId: 'default' } });
    expect(listed.map(({ type }) => type)).toEqual(['sunset', 'sunset']);
  });

  it('imports features with everything they use, and emits events and states', async () => {
    const segment = await beta();
    await features.clearOutbox();
    expect(await bringIn(exported(2))).toEqual({
      created: 2,
      updated: 0,
      unchanged: 0,
      strategies: 2,
      tags: 2,
      tagTypes: 1,
      contextFields: 1,
      dependencies: 1,
      skipped: [],
    });
    const parent = await features.get('feature-0000');
    expect(parent).toMatchObject({
      project: 'default',
      enabled: true,
      children: ['feature-0001'],
      createdBy: { name: 'mia' },
      tags: [{ type: 'team', value: 'payments' }],
      environments: [
        { name: 'development', enabled: true, strategies: [{ segments: [segment.id], parameters: { rollout: '50' } }] },
        { name: 'production', enabled: false, strategies: [] },
      ],
    });
    const emitted = await features.emittedEvents();
    expect(emitted.map(({ type }) => type).slice(0, 3)).toEqual([
      'context-field-created',
      'tag-type-created',
      'tag-created',
    ]);
    expect(emitted.filter(({ featureName }) => featureName === 'feature-0001').map(({ type }) => type)).toEqual([
      'feature-created',
      'feature-tagged',
      'feature-strategy-add',
      'feature-environment-enabled',
      'feature-dependency-added',
    ]);
    expect(emitted.at(-1)).toMatchObject({ type: 'features-imported', project: 'default', environment: 'development' });
    expect(await features.lastState('feature-0000')).toMatchObject({
      dependencyType: 'parent',
      segments: [segment.id],
    });
    expect(await features.lastState('feature-0001')).toMatchObject({ dependencyType: 'child' });
  });

  it('importing the same file again changes nothing, and another environment is added', async () => {
    await beta();
    await bringIn(exported(3));
    await features.clearOutbox();
    const again = { created: 0, updated: 0, unchanged: 3, strategies: 0, tags: 0, skipped: [] };
    expect(await bringIn(exported(3))).toMatchObject(again);
    expect(await features.emittedEvents()).toEqual([]);
    expect(await features.states('feature')).toEqual([]);

    const production = { environment: 'production' };
    expect(await bringIn(exported(3, 'production'), production)).toMatchObject({
      created: 0,
      updated: 3,
      strategies: 3,
    });
    expect(await bringIn(exported(3, 'production'), production)).toMatchObject(again);
    expect(await bringIn(exported(3))).toMatchObject(again);
    expect((await features.get('feature-0002')).environments).toMatchObject([{ enabled: true }, { enabled: true }]);
  });

  it('imports the same file concurrently exactly once', async () => {
    await beta();
    const reports = await Promise.all([bringIn(exported(20)), bringIn(exported(20))]);
    expect(reports.map(({ created, unchanged }) => created - unchanged).sort()).toEqual([-20, 20]);
  });

  it('an import does not wait for locks on features of other projects', async () => {
    await features.call(CreateProject, { body: { id: 'garage', name: 'Garage' } });
    await features.given(aFeature({ name: 'busy', project: 'garage' }));
    await features.database.transaction(async ({ query }) => {
      await query(`select from feature where name = 'busy' for update`);
      const refusal = await refusalOf(bringIn({ features: [{ name: 'busy' }], featureStrategies: [], tagTypes: [] }));
      expect(refusal.details).toMatchObject([
        { message: expect.stringContaining('The feature "busy" exists in project "garage"') },
      ]);
    });
  });

  describe('refuses the whole file', () => {
    it('refuses an import with unknown segments and names all of them', async () => {
      const data = exported(3);
      data.segments = [...(data.segments ?? []), { id: 71, name: 'staff' }];
      data.featureStrategies[1]?.segments?.push(71);
      const refusal = await refusalOf(bringIn(data));
      expect(refusal.kind).toBe('ValidationError');
      expect(refusal.details.map(({ message, path }) => [message.split(';')[0], path])).toEqual([
        ['Segment "beta" does not exist', '/body/data/segments/0/name'],
        ['Segment "staff" does not exist', '/body/data/segments/1/name'],
      ]);
      expect(await namesNow()).toEqual([]);
      expect(await features.emittedEvents()).toEqual([]);
    });

    it('refuses an import with unknown context fields and strategy types', async () => {
      await beta();
      await features.database.transaction(({ query }) => query(`delete from context_field where name = 'region'`));
      const data = { ...exported(2), contextFields: [] };
      data.featureStrategies.push({ featureName: 'feature-0000', name: 'magic' });
      const { details } = await refusalOf(bringIn(data));
      expect(details.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^Context field "region" does not exist; it is used by feature-0000 and 1 more/),
        expect.stringMatching(/magic/),
      ]);
      expect(await namesNow()).toEqual([]);
    });

    it('refuses a truncated file', async () => {
      await beta();
      const data = exported(4);
      const refusal = await refusalOf(bringIn({ ...data, features: data.features.slice(0, 2) }));
      expect(refusal).toMatchObject({ kind: 'ValidationError', message: /^The file is not whole/ });
      expect(await namesNow()).toEqual([]);
    });

    it('refuses an import into an unknown project or environment', async () => {
      await beta();
      expect(await refusalOf(bringIn(exported(1), { project: 'moon' }))).toMatchObject({ kind: 'NotFoundError' });
      expect(await refusalOf(bringIn(exported(1), { environment: 'moon' }))).toMatchObject({
        kind: 'ValidationError',
        message: /\/body\/environment/,
      });
    });

    it('refuses an import that exceeds a limit of features', async () => {
      await beta();
      await features.database.transaction(({ query }) =>
        query(`insert into project (id, name, feature_limit) values ('small', 'Small', 2);`),
      );
      await features.database.transaction(({ query }) =>
        query(`insert into project_environment (project, environment) values ('small', 'development')`),
      );
      expect(await refusalOf(bringIn(exported(3), { project: 'small' }))).toMatchObject({
        kind: 'InvalidOperationError',
      });
      expect(await bringIn(exported(2), { project: 'small' })).toMatchObject({ created: 2 });
    });
  });

  it('skips archived features in an import and reports them', async () => {
    await beta();
    await features.given(
      aFeature({ name: 'feature-0000', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    const data = { ...exported(2), dependencies: [] };
    const { created, skipped } = await bringIn(data);
    expect(created).toBe(1);
    expect(skipped).toEqual([{ feature: 'feature-0000', reason: 'An archived feature has that name.' }]);
  });

  it('an import takes the permissions of the edits that it makes', async () => {
    await beta();
    const permissions: readonly Permission[] = [
      'CREATE_FEATURE',
      'UPDATE_FEATURE',
      'CREATE_FEATURE_STRATEGY',
      'UPDATE_FEATURE_ENVIRONMENT',
      'UPDATE_FEATURE_DEPENDENCY',
      'CREATE_CONTEXT_FIELD',
      'CREATE_TAG_TYPE',
    ];
    const everything = permissions.map((permission) => ({ permission }));
    await features.database.transaction(({ query }) => query(`delete from context_field where name = 'region'`));
    await features.database.transaction(({ query }) => query(`delete from tag_type where name = 'team'`));
    for (const { permission } of everything) {
      const others = everything.filter((grant) => grant.permission !== permission);
      expect(await refusalOf(bringIn(exported(2), {}, callerWith(...others)))).toMatchObject({
        kind: 'NoAccessError',
        permissions: [permission],
      });
    }
    expect(await refusalOf(bringIn(exported(2), {}, lee))).toMatchObject({ permissions: ['CREATE_FEATURE'] });
    expect(await namesNow()).toEqual([]);
    expect(await bringIn(exported(2), {}, callerWith(...everything))).toMatchObject({ created: 2 });
  });

  it('returns an imported context field with a negative sort order as it was imported', async () => {
    await beta();
    const first = { name: 'first', stickiness: false, sortOrder: -5, legalValues: [] };
    await bringIn({ ...exported(1), contextFields: [...(exported(1).contextFields ?? []), first] });
    const { sortOrder } = await features.call(GetContextField, { params: { name: 'first' } });
    expect(sortOrder).toBe(-5);
  });
});

describe('validating an import', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.given(aFeature({ name: 'gone', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }));
  });

  const validate = (about: Partial<ExportedFeatures>, caller = mia, project = 'default') => {
    const data = { features: [{ name: 'new' }], featureStrategies: [], tagTypes: [], ...about };
    return features.call(ValidateImport, { body: { project, environment: 'development', data } }, caller);
  };

  it('validates a correct file without errors and imports nothing', async () => {
    expect(await validate({})).toEqual({ errors: [], warnings: [], permissions: [] });
    const { features: now } = await features.call(ListFeatures, { params: { projectId: 'default' } });
    expect(now).toEqual([]);
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('validates a file and returns errors, warnings and missing permissions', async () => {
    const { errors } = await validate({
      featureStrategies: [{ featureName: 'new', name: 'moon', segments: [] }],
    });
    expect(errors.map(({ affectedItems }) => affectedItems)).toEqual([['new']]);
    expect(errors[0]?.message).toMatch(/"moon" does not exist/);

    expect(await validate({ features: [{ name: 'gone' }] })).toMatchObject({
      warnings: [{ affectedItems: ['gone'] }],
    });

    const kim = callerWith({ permission: 'CREATE_FEATURE', project: 'default' });
    const strategies = [{ featureName: 'new', name: 'default' }];
    const { permissions } = await validate({ featureStrategies: strategies }, kim);
    expect(permissions).toMatchObject([{ affectedItems: ['CREATE_FEATURE_STRATEGY'] }]);

    await expect(validate({}, mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(validate({}, kim, 'moon')).rejects.toMatchObject({ kind: 'NoAccessError' });
  });

  it('validating an import does not wait for locks on its features', async () => {
    await features.given(aFeature({ name: 'busy', project: 'default' }));
    await features.database.transaction(async ({ query }) => {
      await query(`select from feature where name = 'busy' for update`);
      expect(await validate({ features: [{ name: 'busy' }] })).toEqual({ errors: [], warnings: [], permissions: [] });
    });
  });

  it('validating an import reports an exceeded limit', async () => {
    await features.call(UpdateProjectSettings, { params: { projectId: 'default' }, body: { featureLimit: 0 } });
    const { errors } = await validate({});
    expect(errors.map(({ message }) => message)).toEqual([
      'You have reached the maximum number of feature flags for this project.',
    ]);
  });
});

describe('exporting features', () => {
  const ids = { first: randomUUID(), second: randomUUID() };

  let segment: number;
  const features = useFeatures();
  beforeAll(async () => {
    ({ id: segment } = await features.call(CreateSegment, { body: { name: 'beta', constraints: [] } }));
  });

  const environment = 'development';
  const project = 'default';
  const takeOut = (body: Partial<ExportFeaturesBody>) =>
    features.call(ExportFeatures, { body: { environment, ...body } });
  const link = { id: '9d0f4d2e-0000-4000-8000-000000000009', url: 'https://tickets.example/7', title: 'Ticket' };
  const variant = { name: 'a', weight: 1000, weightType: 'variable' as const, stickiness: 'sessionId' };

  beforeEach(async () => {
    await features.database.transaction(({ query }) => query('truncate feature cascade'));
    await features.create('parent', { tags: [{ type: 'simple', value: 'red' }], ...otherMetadata });
    const first = aStrategy({
      id: ids.first,
      name: 'flexibleRollout',
      title: 'Half',
      parameters: { rollout: '50', stickiness: 'userId', groupId: 'checkout' },
      constraints: [
        { contextName: 'appName', operator: 'IN', values: ['shop'], inverted: true, caseInsensitive: false },
      ],
      segments: [segment],
      variants: [{ ...variant, payload: { type: 'string', value: 'x' } }],
    });
    const second = aStrategy({ id: ids.second, sortOrder: 3, disabled: true });
    await features.given(
      aFeature({
        project,
        environments: {
          development: { enabled: true, strategies: [first, second], variants: [{ ...variant, overrides: [] }] },
          production: { enabled: true, strategies: [aStrategy({ id: 'elsewhere' })], variants: [] },
        },
        tags: [{ type: 'simple', value: 'blue' }],
        links: [link],
        dependencies: [{ feature: 'parent', enabled: true, variants: ['a'] }],
      }),
      aFeature({ name: 'gone', project, archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    await features.clearOutbox();
  });

  it('exports features of an environment with everything they use, and emits an event', async () => {
    const data = await takeOut({ project });
    expect(data.features.map(({ name }) => name)).toEqual(['checkout', 'parent']);
    expect(data.featureStrategies).toMatchObject([
      { id: ids.first, featureName: 'checkout', segments: [segment], sortOrder: 0 },
      { id: ids.second, disabled: true, sortOrder: 3 },
    ]);
    expect(data.featureEnvironments).toMatchObject([{ enabled: true, environment }, { enabled: false }]);
    expect(data.contextFields?.map(({ name }) => name)).toEqual(['appName', 'sessionId', 'userId']);
    expect(data.links).toEqual([{ feature: 'checkout', links: [link] }]);
    expect(data.segments).toEqual([{ id: segment, name: 'beta' }]);
    expect(data.tagTypes.map(({ name }) => name)).toEqual(['simple']);
    expect(await features.emittedEvents()).toMatchObject([
      { type: 'features-exported', data: { environment, project, tag: null, features: ['checkout', 'parent'] } },
    ]);
  });

  it('imports an export to an identical feature', async () => {
    const before = await takeOut({ project });
    await features.database.transaction(({ query }) => query('truncate feature, tag cascade'));
    const body = { project, environment, data: before };
    expect(await features.call(ImportFeatures, { body })).toMatchObject({ created: 2, skipped: [] });
    expect(await takeOut({ project })).toEqual(before);
    expect(await features.call(ImportFeatures, { body })).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
  });

  it('exports features by name and by tag', async () => {
    const namesOf = async (body: Partial<ExportFeaturesBody>) => (await takeOut(body)).features.map(({ name }) => name);
    expect(await namesOf({ features: ['parent', 'unknown', 'gone'] })).toEqual(['parent']);
    expect(await namesOf({ features: [] })).toEqual([]);
    expect(await namesOf({ tag: 'blue' })).toEqual(['checkout']);
    expect(await namesOf({ tag: 'blue', project: 'moon' })).toEqual([]);
  });

  it('refuses an export without selection or of an unknown environment', async () => {
    await expect(takeOut({})).rejects.toMatchObject({ kind: 'ValidationError', message: /`\/body\/features`/ });
    await expect(takeOut({ project, environment: 'moon' })).rejects.toMatchObject({
      kind: 'ValidationError',
      message: /`\/body\/environment`/,
    });
  });
});
