import type { ActionSet, ActionSetEvent, ChangeRequest, FoundEvents, SignalEndpoint } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  adminClient,
  apiOf,
  expectRefusal,
  featurePath,
  platformClient,
  projectRole,
  rootRole,
  type TestUser,
} from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** Signals of other systems cause actions of service accounts, within the rights of these. */
export const describeSignals = (platform: () => Platform): void => {
  describe('a signal', () => {
    const project = 'signalled';
    const { expectSuccess, createUser } = adminClient(platform);
    let endpoint: SignalEndpoint;
    let secret: string;
    let owner: TestUser;
    let robot: number;

    const flag = async (name: string) => {
      const client = platformClient(platform().api);
      await client.createFeature(project, name);
      return name;
    };
    const isOn = async (name: string, environment: string) => {
      const { environments = [] } = await platformClient(platform().api).getFeature(featurePath(project, name));
      return environments.find((one) => one.name === environment)?.enabled;
    };
    const createActions = (name: string, actions: readonly object[], actorId = robot) =>
      expectSuccess<ActionSet>('POST', `projects/${project}/actions`, {
        name,
        enabled: true,
        actorId,
        match: {
          source: 'signal-endpoint',
          sourceId: endpoint.id,
          payload: { 'alerts[0].labels.alertname': { operator: 'IN', values: [name] } },
        },
        actions,
      });
    const send = (alertname: string, token = secret, name = endpoint.name) =>
      apiOf(platform().url, `Bearer ${token}`)('POST', `/api/signal-endpoint/${name}`, {
        status: 'firing',
        alerts: [{ labels: { alertname } }],
      });
    /** Sends a signal that the actions match. @returns their run, once it has ended */
    const runOf = async ({ id, name }: ActionSet): Promise<ActionSetEvent> => {
      const newestRun = async () => {
        const path = `projects/${project}/actions/${id}/events?limit=1`;
        return (await expectSuccess<{ actionSetEvents: ActionSetEvent[] }>('GET', path)).actionSetEvents[0];
      };
      const before = await newestRun();
      expect((await send(name)).status).toBe(202);
      return eventually(async () => {
        const run = await newestRun();
        if (run === undefined || run.id === before?.id || run.state === 'started')
          throw new Error('The run has not ended yet.');
        return run;
      });
    };
    const detailsOf = ({ state, actionSet }: ActionSetEvent) => [state, ...actionSet.actions.map((one) => one.details)];

    beforeAll(async () => {
      await platformClient(platform().api).createProject(project);
      owner = await createUser('signals-owner', rootRole.viewer);
      await expectSuccess('PUT', `projects/${project}/users/${owner.id}/roles`, { roles: [projectRole.owner] });
      const account = { username: 'signals-robot', name: 'Robot', rootRole: rootRole.viewer };
      ({ id: robot } = await expectSuccess<{ id: number }>('POST', 'service-account', account));
      await expectSuccess('PUT', `projects/${project}/users/${robot}/roles`, { roles: [projectRole.member] });
      endpoint = await expectSuccess('POST', 'signal-endpoints', { name: 'journey', enabled: true });
      ({ token: secret } = await expectSuccess<{ token: string }>('POST', `signal-endpoints/${endpoint.id}/tokens`, {
        name: 'prometheus',
      }));
    });

    // A project has at most five sets.
    afterEach(async () => {
      const path = `projects/${project}/actions`;
      const { actions } = await expectSuccess<{ actions: ActionSet[] }>('GET', path);
      for (const { id } of actions) await expectSuccess('DELETE', `${path}/${id}`);
    });

    it('switches a flag off, marks and tags it, as the service account', async () => {
      const name = await flag('signalled-off');
      await platformClient(platform().api).toggle(featurePath(project, name), 'production', 'on');
      const set = await createActions('off', [
        { action: 'TOGGLE_FEATURE_OFF', executionParams: { project, environment: 'production', featureName: name } },
        { action: 'MARK_FEATURE_STALE', executionParams: { featureName: name } },
        { action: 'TAG_FEATURE', executionParams: { featureName: name, type: 'simple', value: 'incident' } },
      ]);
      expect(detailsOf(await runOf(set))).toEqual(['success', undefined, undefined, undefined]);
      expect(await isOn(name, 'production')).toBe(false);
      const { events } = await expectSuccess<FoundEvents>('GET', `search/events?feature=IS:${name}&limit=50`);
      const done = events.filter(({ createdByUserId }) => createdByUserId === robot).map(({ type }) => type);
      expect(done).toEqual(
        expect.arrayContaining(['feature-environment-disabled', 'feature-stale-on', 'feature-tagged']),
      );
      await eventually(async () => {
        const ran = await expectSuccess<FoundEvents>('GET', `search/events?type=IS:actions-run-succeeded&limit=50`);
        expect(ran.events[0]).toMatchObject({ createdBy: 'signals-robot', data: { name: 'off', actionSetId: set.id } });
      });
    });

    it('is refused what the service account may not do now, whoever made the actions', async () => {
      const name = await flag('signalled-denied');
      const actions = [
        { action: 'TOGGLE_FEATURE_ON', executionParams: { environment: 'production', featureName: name } },
      ];
      const account = { username: 'signals-weak', rootRole: rootRole.viewer };
      const { id: weak } = await expectSuccess<{ id: number }>('POST', 'service-account', account);
      const set = await createActions('denied', actions, weak);
      expect(detailsOf(await runOf(set))).toEqual(['failed', expect.stringContaining('UPDATE_FEATURE_ENVIRONMENT')]);
      await expectSuccess('PUT', `service-account/${weak}`, { active: false });
      expect(detailsOf(await runOf(set))).toEqual(['failed', expect.stringContaining('disabled')]);
      expect(await isOn(name, 'production')).toBe(false);
    });

    it('does not switch a flag in a protected environment, and opens one change request that others approve', async () => {
      const name = await flag('signalled-protected');
      const environment = 'development';
      const changeRequests = `projects/${project}/environments/${environment}/change-requests`;
      await expectSuccess('PUT', `${changeRequests}/config`, { changeRequestsEnabled: true, requiredApprovals: 1 });
      const executionParams = { environment, featureName: name };
      const direct = await createActions('direct', [{ action: 'TOGGLE_FEATURE_ON', executionParams }]);
      expect(detailsOf(await runOf(direct))).toEqual(['failed', expect.stringContaining('SKIP_CHANGE_REQUEST')]);

      const proposed = await createActions('proposed', [{ action: 'PROPOSE_FEATURE_ON', executionParams }]);
      const [state, opened = ''] = detailsOf(await runOf(proposed));
      const id = Number(/#(\d+) was opened/.exec(opened)?.[1]);
      expect(state).toBe('success');
      const path = `projects/${project}/change-requests/${id}`;
      const request = await expectSuccess<ChangeRequest>('GET', path);
      expect([request.state, request.createdBy.id]).toEqual(['In review', robot]);
      expect(request.comments?.map(({ text }) => text)).toEqual([expect.stringContaining('Actions "proposed"')]);
      expect(await isOn(name, environment)).toBe(false);
      expect(detailsOf(await runOf(proposed))).toEqual(['success', `Change request #${id} proposes it already.`]);
    });

    it('opens one change request of each flag, in whatever order their alerts repeat, until it is applied', async () => {
      const environment = 'development';
      const sets: ActionSet[] = [];
      for (const name of ['signalled-alternating-a', 'signalled-alternating-b']) {
        const executionParams = { environment, featureName: await flag(name) };
        sets.push(await createActions(name, [{ action: 'PROPOSE_FEATURE_ON', executionParams }]));
      }
      const rounds: (readonly (string | undefined)[])[] = [];
      for (const set of [...sets, ...sets]) rounds.push(detailsOf(await runOf(set)));
      const ids = rounds
        .slice(0, 2)
        .map(([, details]) => Number(/^Change request #(\d+) was opened/.exec(details ?? '')?.[1]));
      expect(rounds.slice(2)).toEqual(ids.map((id) => ['success', `Change request #${id} proposes it already.`]));
      const [first = 0] = ids;
      const path = `projects/${project}/change-requests/${first}/state`;
      await expectSuccess('PUT', path, { state: 'Approved' });
      await expectSuccess('PUT', path, {
        state: 'Scheduled',
        scheduledAt: new Date(Date.now() + 86_400_000).toISOString(),
      });
      const [, whileScheduled] = detailsOf(await runOf(sets[0] as ActionSet));
      expect(whileScheduled).toBe(`Change request #${first} proposes it already.`);
    });

    it('causes actions that only administrators make, and that owners of the project see', async () => {
      const path = `/api/admin/projects/${project}/actions`;
      expect((await owner.api('GET', path)).status).toBe(200);
      const body = { name: 'mine', enabled: true, actorId: robot, match: {}, actions: [] };
      expectRefusal(await owner.api('POST', path, body), 403, 'NoAccessError', 'ADMIN');
      expectRefusal(await owner.api('GET', '/api/admin/signal-endpoints'), 403, 'NoAccessError', 'ADMIN');
    });

    it('is stored as it was sent, or refused at once where it cannot be', async () => {
      const sendBody = (body: unknown) =>
        apiOf(platform().url, `Bearer ${secret}`)('POST', `/api/signal-endpoint/${endpoint.name}`, body);
      const odd = '{"prototype":{"polluted":true},"constructor":1,"":null}';
      expect((await sendBody(JSON.parse(odd))).status).toBe(202);
      const path = `signal-endpoints/${endpoint.id}/signals?limit=1`;
      const stored = await expectSuccess<{ signalEndpointSignals: { payload: unknown }[] }>('GET', path);
      expect(JSON.stringify(stored.signalEndpointSignals[0]?.payload)).toBe(odd);
      expect((await sendBody(JSON.parse('{"alerts":[{"__proto__":{"polluted":true}}]}'))).status).toBe(400);
      for (const text of ['a\0b', 'a\ud800b'])
        for (const body of [{ text }, { [text]: 1 }])
          expectRefusal(
            await sendBody(body),
            400,
            'ValidationError',
            text.includes('\0') ? 'U+0000' : 'lone surrogate',
          );
    });

    it('needs a token of its endpoint, and a key of the API is none', async () => {
      expectRefusal(await send('off', 'signal:wrong'), 401, 'AuthenticationRequired', 'no such token');
      expectRefusal(await send('off', platform().token), 401, 'AuthenticationRequired', 'no such token');
      const asAdmin = apiOf(platform().url, secret);
      expect((await asAdmin('GET', '/api/admin/projects')).status).toBe(401);
    });
  });
};
