import type {
  AdvancedPlaygroundResult,
  ChangeRequest,
  ChangeRequestPreview,
  ChangeRequestSearchPage,
  Feature,
  FoundEvents,
  ImportReport,
  SegmentUsage,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiResponse,
  type Api,
  apiOf,
  expectRefusal,
  featurePath,
  platformClient,
} from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

const editor = 2;
const [owner, reviewer, releaser] = [4, 7, 8];
const environment = 'development';

/** A change request from the proposal to its end, by users each of whom has the permission for one part. */
export const describeChangeRequestLife = (platform: () => Platform): void => {
  describe('a change request in a protected environment', () => {
    const project = 'cr-life';
    const requests = `/api/admin/projects/${project}/change-requests`;
    const proposals = `/api/admin/projects/${project}/environments/${environment}/change-requests`;
    let author: Api;
    let approver: Api;
    let runner: { readonly id: number; readonly api: Api };

    /** Expects a success. @returns the body of the response */
    const expectSuccess = async <T>(response: Promise<ApiResponse<T>>): Promise<T> => {
      const { status, text, body } = await response;
      expect({ status, text: status < 300 ? '' : text }).toEqual({ status, text: '' });
      return body;
    };
    /** Creates a user with a key and a role in the project. */
    const someone = async (username: string, rootRole: number, roles: readonly number[]) => {
      const { api, url } = platform();
      const account = { username, name: `The ${username}`, rootRole };
      const { id } = await expectSuccess(api<{ id: number }>('POST', '/api/admin/service-account', account));
      const token = { description: username, expiresAt: '2099-01-01T00:00:00.000Z' };
      const made = api<{ secret: string }>('POST', `/api/admin/service-account/${id}/token`, token);
      const { secret } = await expectSuccess(made);
      await expectSuccess(api('PUT', `/api/admin/projects/${project}/users/${id}/roles`, { roles }));
      return { id, api: apiOf(url, secret) };
    };
    const propose = (body: unknown, by = author) => expectSuccess(by<ChangeRequest>('POST', proposals, body));
    const move = (by: Api, id: number, state: string, more: object = {}) =>
      by('PUT', `${requests}/${id}/state`, { state, ...more });
    const get = (id: number) => expectSuccess(author<ChangeRequest>('GET', `${requests}/${id}`));
    const flag = (name: string) => expectSuccess(author<Feature>('GET', featurePath(project, name)));
    const isOn = async (name: string) =>
      (await flag(name)).environments?.find((it) => it.name === environment)?.enabled ?? false;
    const enable = (feature: string) => ({ action: 'updateEnabled', feature, payload: { enabled: true } });
    const approved = async (...features: string[]) => {
      const { id } = await propose(features.map(enable));
      await expectSuccess(move(author, id, 'In review'));
      await expectSuccess(move(approver, id, 'Approved'));
      return id;
    };
    const createFlag = async (name: string) => {
      await platformClient(platform().api).createFeature(project, name);
      return name;
    };

    beforeAll(async () => {
      await platformClient(platform().api).createProject(project);
      author = (await someone('cr-author', editor, [owner])).api;
      approver = (await someone('cr-approver', editor, [reviewer])).api;
      runner = await someone('cr-releaser', editor, [releaser]);
      const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
      await expectSuccess(platform().api('PUT', `${proposals}/config`, config));
    });

    it('is required for callers without the permission to skip change requests', async () => {
      const name = await createFlag('cr-life-direct');
      const response = await author('POST', `${featurePath(project, name)}/environments/${environment}/on`);
      expectRefusal(response, 403, 'NoAccessError', 'SKIP_CHANGE_REQUEST');
      await expectSuccess(author('POST', `${featurePath(project, name)}/environments/production/on`));
      expect(await isOn(name)).toBe(false);
    });

    it('takes effect after another user has approved it', async () => {
      const name = await createFlag('cr-life-applied');
      const { id, minApprovals } = await propose(enable(name));
      expect(minApprovals).toBe(1);
      const before = await expectSuccess(author<ChangeRequestPreview>('GET', `${requests}/${id}/preview`));
      expect(before).toMatchObject({
        applicable: true,
        features: [{ name, defaultChange: { action: 'addStrategy' } }],
      });
      expectRefusal(await approver('GET', `${requests}/${id}`), 404, 'NotFoundError');
      await expectSuccess(move(author, id, 'In review', { comment: 'Please have a look' }));
      expectRefusal(await move(author, id, 'Approved'), 403, 'NoAccessError', 'Authors can not review');
      await expectSuccess(move(approver, id, 'Approved'));
      expectRefusal(await move(approver, id, 'Applied'), 403, 'NoAccessError', 'APPLY_CHANGE_REQUEST');
      expect(await isOn(name)).toBe(false);
      await expectSuccess(move(runner.api, id, 'Applied'));
      expect(await isOn(name)).toBe(true);
      expect(await get(id)).toMatchObject({
        state: 'Applied',
        approvals: [{}],
        comments: [{ text: 'Please have a look' }],
      });
      expect((await flag(name)).collaborators?.users[0]).toMatchObject({ id: runner.id, name: 'The cr-releaser' });
      const { eventTypes } = platformClient(platform().api);
      expect(await eventTypes({ feature: name })).toEqual([
        'feature-created',
        'change-added',
        'feature-strategy-add',
        'feature-environment-enabled',
      ]);
      const query = `groupId=IS:${id}&project=IS:${project}`;
      const { events } = await expectSuccess(platform().api<FoundEvents>('GET', `/api/admin/search/events?${query}`));
      // Two services emit them: which are recorded first is not promised.
      expect(events.map(({ type, groupType }) => `${groupType}: ${type}`).toSorted()).toEqual([
        'change-request: change-request-applied',
        'change-request: feature-environment-enabled',
        'change-request: feature-strategy-add',
      ]);
    });

    it('that also affects another protected environment needs approvals that count there, as long as they do', async () => {
      const name = await createFlag('cr-life-elsewhere');
      const permissions = ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'].map((permission) => ({
        name: permission,
        environment: 'production',
      }));
      const role = { name: 'cr-production-only', type: 'custom', permissions };
      const { id: roleId } = await expectSuccess(platform().api<{ id: number }>('POST', '/api/admin/roles', role));
      const outsider = await someone('cr-outsider', editor, [roleId]);
      const leaver = await someone('cr-approves-no-more', editor, [reviewer]);
      const elsewhere = `/api/admin/projects/${project}/environments/production/change-requests`;
      const body = { action: 'archiveFeature', feature: name };
      const proposed = await expectSuccess(author<ChangeRequest>('POST', elsewhere, body));
      expect(proposed).toMatchObject({ environment: 'production', affectedEnvironments: [environment] });
      const { id } = proposed;
      await expectSuccess(move(author, id, 'In review'));
      const there = `"APPROVE_CHANGE_REQUEST" permission in the "${environment}" environment`;
      expectRefusal(await move(outsider.api, id, 'Approved'), 403, 'NoAccessError', there);
      await expectSuccess(move(leaver.api, id, 'Approved'));
      expectRefusal(await move(outsider.api, id, 'Applied'), 403, 'NoAccessError', `"${environment}" environment`);

      const roles = `/api/admin/projects/${project}/users/${leaver.id}/roles`;
      await expectSuccess(platform().api('PUT', roles, { roles: [] }));
      await eventually(async () => expect(await get(id)).toMatchObject({ state: 'In review', approvals: [] }));
      expect((await get(id)).comments).toMatchObject([{ text: expect.stringContaining(`(user id: ${leaver.id})`) }]);
      await expectSuccess(move(approver, id, 'Approved'));
      await expectSuccess(move(runner.api, id, 'Applied'));
      expectRefusal(await author('GET', featurePath(project, name)), 404, 'NotFoundError', name);
    });

    it('needs another approval after what it would do was edited elsewhere: a default strategy, or a segment that it begins to use', async () => {
      const { api } = platform();
      const segment = { name: 'cr-beta', constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }] };
      const { id: segmentId } = await expectSuccess(api<{ id: number }>('POST', '/api/admin/segments', segment));
      const defaultStrategy = `/api/admin/projects/${project}/environments/${environment}/default-strategy`;
      const edits = [
        () => author('POST', defaultStrategy, { name: 'flexibleRollout', parameters: { rollout: '7' } }),
        () => api('PUT', `/api/admin/segments/${segmentId}`, { ...segment, constraints: [] }),
      ];
      const name = await createFlag('cr-life-outdated');
      const withSegment = { name: 'default', parameters: {}, constraints: [], segments: [segmentId] };
      const proposals = [enable(name), { action: 'addStrategy', feature: name, payload: withSegment }];
      for (const [nth, proposal] of proposals.entries()) {
        const { id } = await propose(proposal);
        await expectSuccess(move(author, id, 'In review'));
        await expectSuccess(move(approver, id, 'Approved'));
        await expectSuccess(edits[nth]!());
        expectRefusal(
          await move(runner.api, id, 'Applied'),
          409,
          'ConflictError',
          'no longer has the required approvals',
        );
        expect(await get(id)).toMatchObject({ state: 'In review', approvals: [] });
        await expectSuccess(move(approver, id, 'Approved'));
        await expectSuccess(move(runner.api, id, 'Applied'));
      }
    });

    it('takes effect at its scheduled time', async () => {
      const name = await createFlag('cr-life-scheduled');
      const id = await approved(name);
      const scheduledAt = new Date(Date.now() + 5_000).toISOString();
      await expectSuccess(move(runner.api, id, 'Scheduled', { scheduledAt }));
      const warned = await expectSuccess(author<{ id: number }[]>('GET', `${requests}/scheduled?feature=${name}`));
      expect(warned).toMatchObject([{ id, environment }]);
      await eventually(async () => expect(await get(id)).toMatchObject({ state: 'Applied' }));
      expect(await isOn(name)).toBe(true);
      expect((await flag(name)).collaborators?.users[0]).toMatchObject({ id: runner.id, name: 'The cr-releaser' });
    });

    it('is not applied at its scheduled time when the user who scheduled it has been deleted', async () => {
      const leaver = await someone('cr-leaver', editor, [releaser]);
      const id = await approved(await createFlag('cr-life-suspended'));
      await expectSuccess(
        move(leaver.api, id, 'Scheduled', { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }),
      );
      await expectSuccess(platform().api('DELETE', `/api/admin/service-account/${leaver.id}`));
      const reason = `The user who scheduled this change request (user id: ${leaver.id}) has been deleted`;
      await eventually(async () => expect(await get(id)).toMatchObject({ schedule: { status: 'suspended', reason } }));
      await expectSuccess(move(runner.api, id, 'Rejected'));
    });

    it('is closed when a reviewer rejects it', async () => {
      const name = await createFlag('cr-life-rejected');
      const { id } = await propose(enable(name));
      await expectSuccess(move(author, id, 'In review'));
      await expectSuccess(move(approver, id, 'Rejected', { comment: 'Not on a Friday' }));
      expectRefusal(await move(approver, id, 'Approved'), 409, 'ConflictError');
      expect(await get(id)).toMatchObject({
        state: 'Rejected',
        rejections: [{ createdBy: { username: 'cr-approver' } }],
      });
      expect(await isOn(name)).toBe(false);
    });

    it('can be reverted by another change request', async () => {
      const name = await createFlag('cr-life-reverted');
      const id = await approved(name);
      await expectSuccess(move(runner.api, id, 'Applied'));
      const revert = await expectSuccess(author<ChangeRequest>('POST', `${requests}/${id}/revert`));
      expect(revert).toMatchObject({ state: 'Draft', features: [{ name }] });
      await expectSuccess(move(author, revert.id, 'In review'));
      await expectSuccess(move(approver, revert.id, 'Approved'));
      await expectSuccess(move(runner.api, revert.id, 'Applied'));
      const after = (await flag(name)).environments?.find((it) => it.name === environment);
      expect(after).toMatchObject({ enabled: false, strategies: [] });
    });

    it('names each feature that was archived, deleted or moved in the meantime, and applies no change', async () => {
      const { api } = platform();
      const names = ['archived', 'deleted', 'moved', 'here'].map((what) => `cr-life-${what}`);
      for (const name of names) await createFlag(name);
      const [archived = '', deleted = '', moved = '', here = ''] = names;
      const id = await approved(...names);
      await platformClient(api).createProject('cr-elsewhere');
      for (const name of [archived, deleted]) await expectSuccess(api('DELETE', featurePath(project, name)));
      await expectSuccess(api('DELETE', `/api/admin/archive/${deleted}`));
      await expectSuccess(
        api('POST', `${featurePath(project, moved)}/changeProject`, { newProjectId: 'cr-elsewhere' }),
      );
      const conflicts = {
        [archived]: 'Feature has been archived',
        [deleted]: 'Feature has been deleted',
        [moved]: 'Feature has been moved to another project',
      };
      const { features } = await get(id);
      expect(features.map(({ name, conflict }) => [name, conflict])).toEqual(
        names.map((name) => [name, conflicts[name]]),
      );
      const response = await move(runner.api, id, 'Applied');
      expectRefusal(response, 409, 'ConflictError');
      const { details } = response.body as { details: readonly { feature: string; message: string }[] };
      expect(Object.fromEntries(details.map(({ feature, message }) => [feature, message]))).toEqual(conflicts);
      expect(await isOn(here)).toBe(false);
      await expectSuccess(move(author, id, 'Cancelled'));
    });

    it('is not applied to another feature that has got the name of the one it was approved for', async () => {
      const { api } = platform();
      const name = await createFlag('cr-life-namesake');
      const id = await approved(name);
      await expectSuccess(api('DELETE', featurePath(project, name)));
      await expectSuccess(api('DELETE', `/api/admin/archive/${name}`));
      await createFlag(name);
      const conflict = 'Feature has been deleted, and another one has its name';
      expect(await get(id)).toMatchObject({ features: [{ name, conflict, conflictCode: 'feature-deleted' }] });
      expectRefusal(await move(runner.api, id, 'Applied'), 409, 'ConflictError');
      expect(await isOn(name)).toBe(false);

      // Proposed again, the change is one for the feature that is there now, and is approved anew.
      const again = await propose(enable(name));
      expect(again).toMatchObject({ id, state: 'In review', approvals: [] });
      await expectSuccess(move(approver, id, 'Approved'));
      await expectSuccess(move(runner.api, id, 'Applied'));
      expect(await isOn(name)).toBe(true);
    });

    it('goes with its project, and not to another one that gets its id', async () => {
      const { api } = platform();
      const [reused, name] = ['cr-life-reused', 'cr-life-of-reused'];
      const client = platformClient(api);
      await client.createProject(reused);
      await client.createFeature(reused, name);
      const path = `/api/admin/projects/${reused}`;
      const change = { action: 'archiveFeature', feature: name };
      const made = api<ChangeRequest>('POST', `${path}/environments/${environment}/change-requests`, change);
      const { id } = await expectSuccess(made);
      await expectSuccess(api('GET', `${path}/change-requests/${id}`));
      await expectSuccess(api('DELETE', featurePath(reused, name)));
      await expectSuccess(api('DELETE', path));
      await client.createProject(reused);
      await eventually(async () =>
        expectRefusal(await api('GET', `${path}/change-requests/${id}`), 404, 'NotFoundError'),
      );
    });

    it('lists the segments that it would use, and is in conflict once such a segment is deleted', async () => {
      const name = await createFlag('cr-life-segment');
      const { api } = platform();
      const segment = { name: 'cr-life-testers', constraints: [] };
      const { id: segmentId } = await expectSuccess(api<{ id: number }>('POST', '/api/admin/segments', segment));
      const payload = { name: 'default', constraints: [], parameters: {}, segments: [segmentId] };
      const { id } = await propose([{ action: 'addStrategy', feature: name, payload }, enable(name)]);
      await expectSuccess(move(author, id, 'In review'));
      await expectSuccess(move(approver, id, 'Approved'));
      const uses = await expectSuccess(api<SegmentUsage>('GET', `/api/admin/segments/${segmentId}/strategies`));
      expect(uses).toMatchObject({
        strategies: [],
        changeRequestStrategies: [{ featureName: name, environment, changeRequest: { id, title: null } }],
      });

      const renamed = { ...segment, name: 'cr-life-explorers' };
      await expectSuccess(api('PUT', `/api/admin/segments/${segmentId}`, renamed));
      expect(JSON.stringify(await get(id))).not.toContain('"conflict"');
      await expectSuccess(api('DELETE', `/api/admin/segments/${segmentId}`));
      const conflict = `Segment ${segmentId} has been deleted`;
      expect(await get(id)).toMatchObject({
        features: [{ changes: [{ conflict, conflictCode: 'segment-missing' }, {}] }],
      });
      expectRefusal(await move(runner.api, id, 'Applied'), 409, 'ConflictError', conflict);
      expect(await get(id)).toMatchObject({ state: 'Approved' });
      expect(await isOn(name)).toBe(false);
      await expectSuccess(move(author, id, 'Cancelled'));
    });

    it('is created by an import into the environment, which applies its other changes immediately', async () => {
      const name = 'cr-life-imported';
      const data = {
        features: [{ name, description: 'from elsewhere' }],
        featureStrategies: [{ featureName: name, name: 'default', title: 'as in the file' }],
        featureEnvironments: [{ featureName: name, environment, enabled: true }],
        tagTypes: [],
      };
      const bringIn = () =>
        expectSuccess(author<ImportReport>('POST', '/api/admin/features-batch/import', { project, environment, data }));
      const { changeRequest, created } = await bringIn();
      expect({ created, changes: changeRequest?.changes }).toEqual({ created: 1, changes: 2 });
      const id = changeRequest?.id ?? 0;
      expect(await flag(name)).toMatchObject({ description: 'from elsewhere', enabled: false });
      expect(await get(id)).toMatchObject({
        state: 'In review',
        title: 'Import of 1 feature',
        createdBy: { username: 'cr-author' },
        features: [{ name, changes: [{ action: 'addStrategy' }, { action: 'updateEnabled' }] }],
      });
      await expectSuccess(move(approver, id, 'Approved'));
      await expectSuccess(move(runner.api, id, 'Applied'));
      const after = (await flag(name)).environments?.find((it) => it.name === environment);
      expect(after).toMatchObject({ enabled: true, strategies: [{ title: 'as in the file' }] });
      expect(await bringIn()).toMatchObject({ unchanged: 1 });
    });

    it('is evaluated in the playground as if it had been applied, without a change of state', async () => {
      const name = await createFlag('cr-life-playground');
      const payload = {
        name: 'default',
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
        parameters: {},
      };
      const { id } = await propose([{ action: 'addStrategy', feature: name, payload }, enable(name)]);
      const evaluate = (by: Api, changeRequest?: number) =>
        by<AdvancedPlaygroundResult>('POST', '/api/admin/playground/advanced', {
          environments: [environment, 'production'],
          projects: [project],
          context: { userId: '7,8' },
          ...(changeRequest === undefined ? {} : { changeRequest }),
        });
      const results = async (changeRequest?: number) => {
        const { features } = await expectSuccess(evaluate(author, changeRequest));
        const { environments = {} } = features.find((feature) => feature.name === name) ?? {};
        return [environment, 'production'].map((one) => environments[one]?.map(({ isEnabled }) => isEnabled));
      };
      const [off, forOneUser] = [
        [false, false],
        [true, false],
      ];
      expect(await results(id)).toEqual([forOneUser, off]);
      expect(await results()).toEqual([off, off]);
      expectRefusal(await evaluate(approver, id), 404, 'NotFoundError');
      expectRefusal(await evaluate(author, 2_000_000_000), 404, 'NotFoundError');

      await expectSuccess(platform().api('DELETE', `/api/admin/projects/${project}/features/${name}`));
      expectRefusal(await evaluate(author, id), 409, 'ConflictError', 'could not be applied');
      await expectSuccess(move(author, id, 'In review'));
      await expectSuccess(move(author, id, 'Cancelled'));
      expectRefusal(await evaluate(author, id), 400, 'ValidationError', 'closed (Cancelled)');
    });

    it('is found by its requested approvers', async () => {
      const available = `${requests}/available-reviewers/${environment}`;
      const { reviewers } = await expectSuccess(
        author<{ reviewers: { id: number; username?: string }[] }>('GET', available),
      );
      const request = reviewers.find(({ username }) => username === 'cr-approver');
      expect(reviewers.map(({ username }) => username)).toEqual(expect.arrayContaining(['cr-approver', 'cr-releaser']));
      const { id } = await propose(enable(await createFlag('cr-life-approval')));
      await expectSuccess(author('PUT', `${requests}/${id}/approvers`, { reviewers: [request?.id] }));
      await expectSuccess(move(author, id, 'In review'));
      const found = await expectSuccess(
        approver<ChangeRequestSearchPage>(
          'GET',
          `/api/admin/search/change-requests?requestedApproverId=IS:${request?.id}`,
        ),
      );
      expect(found).toMatchObject({ total: 1, changeRequests: [{ id, project, state: 'In review' }] });
      await expectSuccess(move(author, id, 'Cancelled'));
    });

    it('is skipped by an administrator, with an event', async () => {
      const name = await createFlag('cr-life-skipped');
      await platformClient(platform().api).toggle(featurePath(project, name), environment, 'on');
      const { events } = await platformClient(platform().api).events({ feature: name, limit: 1 });
      expect(events).toMatchObject([{ type: 'feature-environment-enabled', data: { bypassedChangeRequest: true } }]);
    });
  });
};
