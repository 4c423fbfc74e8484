import {
  ChangeRequest,
  type ChangeAction,
  changeActions,
  type FeatureStrategy,
  PendingChangeRequest,
} from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectFits, expectRefusal, imageUrl, timestamp, featurePath, platformClient } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

const variant = { name: 'only', weight: 1000, weightType: 'variable', stickiness: 'default' };
const me = { id: -42, username: expect.any(String), imageUrl };

/** Creating change requests, and listing the pending ones. */
export const describeChangeRequests = (platform: () => Platform): void => {
  describe('a change request', () => {
    const client = () => platformClient(platform().api);
    const propose = (project: string, body: unknown, environment = 'development') =>
      platform().api<ChangeRequest>(
        'POST',
        `/api/admin/projects/${project}/environments/${environment}/change-requests`,
        body,
      );
    const pending = async (project: string) => {
      const { status, body } = await platform().api<PendingChangeRequest[]>(
        'GET',
        `/api/admin/projects/${project}/change-requests/pending`,
      );
      expect(status).toBe(200);
      for (const request of body) expectFits(PendingChangeRequest, request);
      return body;
    };

    it('is created by the first change, and has every property of the interface', async () => {
      await client().createProject('cr-first');
      await client().createFeature('cr-first', 'cr-first-flag');
      expect(await pending('cr-first')).toEqual([]);

      const payload = { enabled: true };
      const { status, body } = await propose('cr-first', {
        action: 'updateEnabled',
        feature: 'cr-first-flag',
        payload,
      });
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          id: expect.any(Number),
          title: expect.any(String),
          environment: 'development',
          minApprovals: expect.any(Number),
          project: 'cr-first',
          features: [
            {
              name: 'cr-first-flag',
              changes: [
                { id: expect.any(Number), action: 'updateEnabled', payload, createdBy: me, createdAt: timestamp },
              ],
            },
          ],
          segments: [],
          approvals: [],
          rejections: [],
          comments: [],
          createdBy: me,
          createdAt: timestamp,
          state: 'Draft',
        },
      });
      expectFits(ChangeRequest, body);
      expect(body).not.toHaveProperty('schedule');
      const [feature] = body.features;
      expect(feature).not.toHaveProperty('conflict');
      expect(await pending('cr-first')).toEqual([body]);
      // It is a proposal: nothing has happened to the feature.
      expect((await client().getFeature(featurePath('cr-first', 'cr-first-flag'))).enabled).toBe(false);
    });

    it('collects further changes of its author, one per environment', async () => {
      const project = 'cr-more';
      await client().createProject(project);
      for (const name of ['cr-more-a', 'cr-more-b', 'cr-more-c']) await client().createFeature(project, name);
      const enable = (feature: string) => ({ action: 'updateEnabled', feature, payload: { enabled: true } });

      const first = await propose(project, enable('cr-more-b'));
      const second = await propose(project, [enable('cr-more-a'), enable('cr-more-c')]);
      expect(second.body.id).toBe(first.body.id);
      expect(second.body.features.map(({ name }) => name)).toEqual(['cr-more-b', 'cr-more-a', 'cr-more-c']);
      const ids = second.body.features.flatMap(({ changes }) => changes.map(({ id }) => id));
      expect(new Set(ids).size).toBe(3);
      expect(ids[0]).toBe(first.body.features[0]?.changes[0]?.id);

      const elsewhere = await propose(project, enable('cr-more-a'), 'production');
      expect(elsewhere.body.id).toBeGreaterThan(first.body.id);
      expect((await pending(project)).map(({ id, environment }) => [id, environment])).toEqual([
        [first.body.id, 'development'],
        [elsewhere.body.id, 'production'],
      ]);
    });

    it('holds changes of segments, also of those for every project', async () => {
      const project = 'cr-segments';
      await client().createProject(project);
      const own = await client().createSegment({ name: 'cr-own', project });
      const shared = await client().createSegment({ name: 'cr-shared' });
      const unused = await client().createSegment({ name: 'cr-unused' });
      const { status, body } = await propose(project, [
        { action: 'updateSegment', payload: { id: shared.id, name: 'cr-shared', constraints: [] } },
        { action: 'deleteSegment', payload: { id: unused.id } },
        { action: 'updateSegment', payload: { id: own.id } },
      ]);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          features: [],
          segments: [
            { id: shared.id, name: 'cr-shared', changes: [{ action: 'updateSegment', payload: { id: shared.id } }] },
            { id: unused.id, name: 'cr-unused', changes: [{ action: 'deleteSegment', payload: { id: unused.id } }] },
            { id: own.id, name: 'cr-own', changes: [{ action: 'updateSegment', payload: { id: own.id } }] },
          ],
        },
      });
      expectFits(ChangeRequest, body);
      expect(await pending(project)).toEqual([body]);
    });

    it('takes all actions for one feature, one by one in the order of the interface', async () => {
      const project = 'cr-table';
      await client().createProject(project);
      for (const name of ['cr-table-flag', 'cr-table-parent']) await client().createFeature(project, name);
      const segment = await client().createSegment({ name: 'cr-table-segment' });
      const { id } = await client().addStrategy(featurePath(project, 'cr-table-flag'), 'development', {});
      const feature = 'cr-table-flag';
      for (const change of [
        { action: 'updateSegment', payload: { id: segment.id } },
        { action: 'deleteSegment', payload: { id: segment.id } },
        { action: 'updateEnabled', feature, payload: { enabled: true } },
        { action: 'addStrategy', feature, payload: { name: 'default', constraints: [], parameters: {} } },
        { action: 'updateStrategy', feature, payload: { id } },
        { action: 'deleteStrategy', feature, payload: { id } },
        { action: 'archiveFeature', feature },
        { action: 'patchVariant', feature, payload: { variants: [variant] } },
        { action: 'reorderStrategy', feature, payload: [{ id, sortOrder: 1 }] },
        { action: 'addDependency', feature, payload: { feature: 'cr-table-parent' } },
        { action: 'deleteDependency', feature },
      ]) {
        const { status, body, text } = await propose(project, change);
        expect([status, status === 200 ? '' : text]).toEqual([200, '']);
        const changes = [...body.features, ...body.segments].flatMap((subject) => subject.changes);
        expect(changes.map(({ action }) => action)).toContain(change.action);
      }
      const [request] = await pending(project);
      expect([...(request?.features ?? []), ...(request?.segments ?? [])]).not.toContainEqual(
        expect.objectContaining({ conflict: expect.anything() }),
      );
    });

    it('accepts all changes of a list or none', async () => {
      const project = 'cr-atomic';
      await client().createProject(project);
      await client().createFeature(project, 'cr-atomic-flag');
      const good = { action: 'updateEnabled', feature: 'cr-atomic-flag', payload: { enabled: true } };
      const mixed = [good, { ...good, payload: { enabled: 'yes' } }];
      expectRefusal(await propose(project, mixed), 400, 'ValidationError', '/body/1/payload/enabled');
      const unknown = [good, { ...good, feature: 'cr-atomic-none' }];
      expectRefusal(await propose(project, unknown), 404, 'NotFoundError', 'cr-atomic-none');
      expectRefusal(await propose(project, []), 400, 'ValidationError', '/body');
      expect(await pending(project)).toEqual([]);
      expect(await client().events({ project, type: 'change-request-created' })).toMatchObject({ totalEvents: 0 });
    });

    describe('with each of the eleven actions', () => {
      const project = 'cr-all';
      let changeRequest: ChangeRequest;
      let strategies: FeatureStrategy[];
      let segments: [number, number];

      beforeAll(async () => {
        const { addStrategy, createProject, createSegment } = client();
        await createProject(project);
        segments = [
          (await createSegment({ name: 'cr-kept', project })).id,
          (await createSegment({ name: 'cr-deleted', project })).id,
        ];
        const features = ['flag', 'parent', 'child', 'orphan', 'old'].map((name) => ({ name: `cr-all-${name}` }));
        const file = {
          features,
          featureStrategies: [],
          tagTypes: [],
          dependencies: [{ feature: 'cr-all-child', dependencies: [{ feature: 'cr-all-parent' }] }],
        };
        const { status } = await platform().api('POST', '/api/admin/features-batch/import', {
          project,
          environment: 'development',
          data: file,
        });
        expect(status).toBe(200);
        const address = featurePath(project, 'cr-all-flag');
        strategies = [
          await addStrategy(address, 'development', { title: 'To be updated' }),
          await addStrategy(address, 'development', { title: 'To be deleted' }),
          await addStrategy(address, 'development', { title: 'To be moved' }),
        ];
        const [updated, deleted, moved] = strategies.map(({ id }) => id);
        const proposed = await propose(project, [
          { action: 'updateSegment', payload: { id: segments[0], name: 'cr-renamed', constraints: [] } },
          { action: 'deleteSegment', payload: { id: segments[1] } },
          {
            action: 'updateEnabled',
            feature: 'cr-all-flag',
            payload: { enabled: true, shouldActivateDisabledStrategies: true },
          },
          {
            action: 'addStrategy',
            feature: 'cr-all-flag',
            payload: {
              name: 'flexibleRollout',
              constraints: [],
              parameters: { rollout: '25' },
              title: null,
              segments: [segments[0]],
            },
          },
          { action: 'updateStrategy', feature: 'cr-all-flag', payload: { id: updated, title: 'Updated' } },
          { action: 'deleteStrategy', feature: 'cr-all-flag', payload: { id: deleted } },
          { action: 'archiveFeature', feature: 'cr-all-old' },
          { action: 'patchVariant', feature: 'cr-all-flag', payload: { variants: [variant] } },
          {
            action: 'reorderStrategy',
            feature: 'cr-all-flag',
            payload: [
              { id: moved, sortOrder: 0 },
              { id: updated, sortOrder: 1 },
            ],
          },
          {
            action: 'addDependency',
            feature: 'cr-all-orphan',
            payload: { feature: 'cr-all-parent', variants: ['only'] },
          },
          { action: 'deleteDependency', feature: 'cr-all-child' },
        ]);
        expect({ status: proposed.status, text: proposed.text }).toMatchObject({ status: 200 });
        changeRequest = proposed.body;
      });

      const changeOf = (action: ChangeAction) =>
        [...changeRequest.features, ...changeRequest.segments]
          .flatMap(({ changes }) => changes)
          .filter((one) => one.action === action);

      it('lists its changes by feature and segment, in the order of their first change', () => {
        expectFits(ChangeRequest, changeRequest);
        expect(changeRequest.features.map(({ name }) => name)).toEqual([
          'cr-all-flag',
          'cr-all-old',
          'cr-all-orphan',
          'cr-all-child',
        ]);
        expect(changeRequest.segments.map(({ id, name }) => [id, name])).toEqual([
          [segments[0], 'cr-kept'],
          [segments[1], 'cr-deleted'],
        ]);
        // The list of a segment has journeys of its own.
        for (const action of changeActions)
          expect(changeOf(action)).toHaveLength(action === 'updateSegmentList' ? 0 : 1);
      });

      it.each<[ChangeAction, () => unknown]>([
        ['updateSegment', () => ({ id: segments[0], name: 'cr-renamed', constraints: [] })],
        ['deleteSegment', () => ({ id: segments[1] })],
        ['updateEnabled', () => ({ enabled: true, shouldActivateDisabledStrategies: true })],
        ['addStrategy', () => ({ name: 'flexibleRollout', constraints: [], segments: [segments[0]] })],
        ['updateStrategy', () => ({ id: strategies[0]?.id, title: 'Updated', snapshot: { title: 'To be updated' } })],
        ['deleteStrategy', () => ({ id: strategies[1]?.id, snapshot: { title: 'To be deleted' } })],
        ['archiveFeature', () => ({})],
        ['patchVariant', () => ({ variants: [variant] })],
        [
          'reorderStrategy',
          () => [
            { id: strategies[2]?.id, sortOrder: 0 },
            { id: strategies[0]?.id, sortOrder: 1 },
          ],
        ],
        ['addDependency', () => ({ feature: 'cr-all-parent', enabled: true, variants: ['only'] })],
        ['deleteDependency', () => ({})],
      ])('returns the payload of %s unchanged', (action, payload) => {
        expect(changeOf(action)).toMatchObject([{ payload: payload() }]);
      });

      it.each<[ChangeAction, object, string]>([
        ['updateSegment', { payload: { id: 'one' } }, '/body/payload/id'],
        ['deleteSegment', { payload: {} }, '/body/payload/id'],
        ['updateEnabled', { payload: { enabled: 'yes' } }, '/body/payload/enabled'],
        ['addStrategy', { payload: { name: 'default', parameters: {} } }, '/body/payload/constraints'],
        [
          'addStrategy',
          { payload: { name: 'default', constraints: [], parameters: { a: null } } },
          '/body/payload/parameters/a',
        ],
        [
          'addStrategy',
          { payload: { name: 'default', constraints: [{ contextName: 'userId' }], parameters: {} } },
          '/body/payload/constraints/0/operator',
        ],
        ['updateStrategy', { payload: { title: 'x' } }, '/body/payload/id'],
        ['deleteStrategy', { payload: null }, '/body/payload'],
        ['archiveFeature', { payload: { now: true } }, 'now'],
        ['patchVariant', { payload: { variants: [{ ...variant, weight: 1001 }] } }, '/body/payload/variants/0/weight'],
        ['reorderStrategy', { payload: [{ id: 'x' }] }, '/body/payload/0/sortOrder'],
        ['reorderStrategy', { payload: { id: 'x', sortOrder: 1 } }, '/body/payload'],
        ['addDependency', { payload: { feature: 7 } }, '/body/payload/feature'],
        ['deleteDependency', { payload: 'all' }, '/body/payload'],
        ['updateEnabled', { feature: undefined, payload: { enabled: true } }, '/body/feature'],
      ])('refuses %s with an invalid payload and names the property: %j', async (action, change, at) => {
        const body = { action, feature: 'cr-all-flag', ...change };
        expectRefusal(await propose(project, body), 400, 'ValidationError', at);
        expect(await pending(project)).toEqual([changeRequest]);
      });

      it('refuses an unknown action and a change without an action, and names the property', async () => {
        const other = { action: 'deleteFeature', feature: 'cr-all-flag', payload: {} };
        expectRefusal(await propose(project, other), 400, 'ValidationError', '/body/action');
        expectRefusal(await propose(project, { feature: 'cr-all-flag' }), 400, 'ValidationError', '/body/action');
      });

      it('refuses changes that contradict the state of the feature', async () => {
        const sense = async (change: object) => (await propose(project, { feature: 'cr-all-flag', ...change })).status;
        const [, deleted] = strategies.map(({ id }) => id);
        expect({
          'updates what it deletes': await sense({ action: 'updateStrategy', payload: { id: deleted, title: 'x' } }),
          'depends on itself': await sense({ action: 'addDependency', payload: { feature: 'cr-all-flag' } }),
          'only fixed variants': await sense({
            action: 'addStrategy',
            payload: {
              name: 'flexibleRollout',
              constraints: [],
              parameters: {},
              variants: [{ ...variant, weightType: 'fix' }],
            },
          }),
          'a number that is none': await sense({
            action: 'addStrategy',
            payload: {
              name: 'default',
              constraints: [{ contextName: 'userId', operator: 'NUM_EQ', value: 'x' }],
              parameters: {},
            },
          }),
        }).toEqual({
          'updates what it deletes': 400,
          'depends on itself': 400,
          'only fixed variants': 400,
          'a number that is none': 400,
        });
        expect(await pending(project)).toEqual([changeRequest]);
      });
    });
  });
};
