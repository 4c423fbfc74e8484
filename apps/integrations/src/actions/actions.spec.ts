import { implement, serve } from '@bunting/bus';
import {
  type ActionSetBody,
  anonymousCaller,
  CreateActionSet,
  CreateSignalEndpoint,
  CreateSignalEndpointToken,
  DeleteActionSet,
  DeleteSignalEndpoint,
  DisableActionSet,
  ExecuteAction,
  GetActionSet,
  GetFeature,
  GetFeatureEnvironment,
  ListActionSetEvents,
  ListActionSets,
  notFound,
  ReceiveSignal,
  type RequestOf,
  unavailable,
  UpdateActionSet,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signalQueue } from './action-store.ts';
import { alertmanagerSignal } from '../../test/payloads.ts';
import { mia, startIntegrations, type StartedIntegrations } from '../../test/started-integrations.ts';

type Execution = RequestOf<typeof ExecuteAction>['body'];

const project = 'shop';
const robot = 7;
let service: StartedIntegrations;
let endpointId: number;
let token: string;
/** what the gateway was asked to execute */
let executed: Execution[] = [];
let execute: (body: Execution) => string | null | Promise<string | null> = () => null;

/** The answers of gateway and features, whose replies are not those of their schemas. */
const fakePlatform = (bus: StartedIntegrations['bus']) =>
  serve(bus, [
    implement(ExecuteAction, async ({ body }) => {
      executed.push(body);
      return { by: { id: robot, name: 'robot' }, refusal: await execute(body), details: '' };
    }),
    implement(GetFeature, async ({ params }) => found(params.featureName)),
    implement(GetFeatureEnvironment, async ({ params }) => found(params.featureName)),
  ]);

function found(name: string): never {
  if (name !== 'checkout') throw notFound(`Could not find feature ${name}`);
  return {} as never;
}

beforeAll(async () => {
  service = await startIntegrations({ INTEGRATIONS_MAX_SIGNALS_PER_MINUTE: '6000' });
  await fakePlatform(service.bus);
  service.people.user(robot, 'robot', { isService: true });
  service.people.user(8, 'ann');
  const body = { name: 'alertmanager', enabled: true };
  ({ id: endpointId } = await service.call(CreateSignalEndpoint, { body }));
  const created = { params: { signalEndpointId: endpointId }, body: { name: 'prod' } };
  ({ token } = await service.call(CreateSignalEndpointToken, created));
});
afterAll(() => service.stop());
beforeEach(async () => {
  await service.database.query({ text: 'delete from signal' });
  await service.database.query({ text: 'delete from action_set' });
  executed = [];
  execute = () => null;
});

const off = { action: 'TOGGLE_FEATURE_OFF', executionParams: { featureName: 'checkout', environment: 'production' } };
const stale = { action: 'MARK_FEATURE_STALE', executionParams: { featureName: 'checkout' } };
const tagWith = (value: string) => ({
  action: 'TAG_FEATURE',
  executionParams: { featureName: 'checkout', type: 'simple', value },
});
const setBody = (more: Partial<ActionSetBody> = {}): ActionSetBody => ({
  name: 'switch off',
  enabled: true,
  actorId: robot,
  match: {
    source: 'signal-endpoint',
    sourceId: endpointId,
    payload: { 'commonLabels.severity': { operator: 'IN', values: ['page'] } },
  },
  actions: [off] as ActionSetBody['actions'],
  ...more,
});
const create = (more: Partial<ActionSetBody> = {}) =>
  service.call(CreateActionSet, { params: { projectId: project }, body: setBody(more) });
const send = (body: unknown = alertmanagerSignal) =>
  service.call(
    ReceiveSignal,
    { params: { name: 'alertmanager' }, query: { authorization: `Bearer ${token}` }, body },
    anonymousCaller,
  );
const runs = async (id: number) =>
  (await service.call(ListActionSetEvents, { params: { projectId: project, id } })).actionSetEvents;
const outcomes = async (id: number) =>
  (await runs(id))[0]?.actionSet.actions.map(({ state, details }) => [state, details]);
const processed = () =>
  eventually(async () => {
    const text = 'select count(*)::int as waiting from signal where processed_at is null';
    const [row] = await service.database.query<{ waiting: number }>({ text });
    expect(row?.waiting).toBe(0);
  });
/** Makes endpoints free that rest because of a failure, and ends leases of processes that are gone, as time does. */
const passTime = () => service.database.query({ text: 'update signal_endpoint set lease_until = null' });

describe('an action set', () => {
  it('ends with its project, and not with an earlier one of the same id', async () => {
    const { id } = await create();
    const deletedAt = (ms: number) => ({
      type: 'project-deleted' as const,
      project,
      featureName: null,
      environment: null,
      createdAt: new Date(ms).toISOString(),
    });
    const sets = async () => (await service.call(ListActionSets, { params: { projectId: project } })).actions;
    const [earlier] = service.log.append(deletedAt(Date.now() - 3_600_000));
    await eventually(async () => {
      const text = 'select position from inbox_position';
      const [row] = await service.database.query<{ position: number }>({ text });
      expect(row?.position).toBe(earlier?.event.id);
    });
    expect(await sets()).toMatchObject([{ id }]);
    service.log.append(deletedAt(Date.now() + 3_600_000));
    await eventually(async () => expect(await sets()).toEqual([]));
  });

  it('runs as its service account when a signal matches, and only then', async () => {
    const { id } = await create();
    await send({ ...alertmanagerSignal, commonLabels: { severity: 'info' } });
    await send();
    await processed();
    expect(executed).toEqual([
      {
        accountId: robot,
        key: expect.stringMatching(/^action-/) as string,
        project,
        action: 'TOGGLE_FEATURE_OFF',
        executionParams: { featureName: 'checkout', environment: 'production' },
        reason: expect.stringContaining('Actions "switch off", because of signal ') as string,
      },
    ]);
    expect(await runs(id)).toMatchObject([
      {
        actionSetId: id,
        state: 'success',
        signal: { sourceId: endpointId, payload: { status: 'firing' } },
        actionSet: {
          name: 'switch off',
          actorId: robot,
          actions: [{ action: 'TOGGLE_FEATURE_OFF', state: 'success' }],
        },
      },
    ]);
  });

  it('stops at the first action that is refused, and says why, in its runs and in the event log', async () => {
    const before = (await service.emittedEvents()).length;
    const { id } = await create({ actions: [off, stale, off] as ActionSetBody['actions'] });
    execute = ({ action }) => (action === 'MARK_FEATURE_STALE' ? 'The account may not do this.' : null);
    await send();
    await processed();
    const [run] = await runs(id);
    expect(run?.state).toBe('failed');
    expect(run?.actionSet.actions.map(({ state, details }) => [state, details])).toEqual([
      ['success', undefined],
      ['failed', 'The account may not do this.'],
      ['not started', undefined],
    ]);
    const events = (await service.emittedEvents()).slice(before);
    expect(events.map(({ type }) => type)).toEqual(['actions-created', 'actions-run-failed']);
    expect(events[1]).toMatchObject({
      project,
      createdByUserId: robot,
      createdBy: 'robot',
      data: {
        actionSetId: id,
        name: 'switch off',
        signalId: run?.signalId,
        signalEndpoint: 'alertmanager',
        reason: 'The account may not do this.',
      },
    });
  });

  it('waits for what is unavailable, repeats the action with the same key, and keeps the order of the signals', async () => {
    await create({ match: { ...setBody().match, payload: {} } });
    let outages = 1;
    execute = () => {
      if (outages-- > 0) throw unavailable('The features service is not reachable.');
      return null;
    };
    await send({ nth: 1 });
    await send({ nth: 2 });
    await eventually(async () => {
      await passTime();
      expect(executed).toHaveLength(3);
    });
    await processed();
    const [first, again, second] = executed;
    expect(again).toEqual(first);
    expect(second?.key).not.toBe(first?.key);
    expect(Number(second?.reason.match(/signal (\d+)/)?.[1])).toBe(
      Number(first?.reason.match(/signal (\d+)/)?.[1]) + 1,
    );
  });

  it('runs at once although the clock of the database was set back while another process had its endpoint', async () => {
    const { id } = await create();
    await service.database.query({
      text: `update signal_endpoint set lease = gen_random_uuid(), lease_until = now() + interval '1 hour'`,
    });
    await send();
    await eventually(async () => expect((await runs(id))[0]?.state).toBe('success'));
  });

  it('rests after an outage, also where leases are shorter than the rest', async () => {
    await create();
    await service.database.query({
      text: `update signal_endpoint set lease = null, lease_until = now() + interval '50 seconds'`,
    });
    await send();
    expect(await signalQueue(service.database).claim(1_000, 10, [])).toEqual([]);
    await passTime();
    await processed();
  });

  it('continues where a killed process was, with the keys that it has used, and leaves one event of each run', async () => {
    const before = (await service.emittedEvents()).length;
    const { id } = await create({ actions: [off, stale] as ActionSetBody['actions'] });
    // The process dies, to the database, while an action is executed: another one has the endpoint by the time it ends.
    let deaths = 2;
    const takeover = `update signal_endpoint set lease = gen_random_uuid(), lease_until = clock_timestamp() + interval '50 seconds'`;
    execute = async () => {
      if (deaths-- > 0) await service.database.query({ text: takeover });
      return null;
    };
    await send();
    await eventually(async () => {
      await passTime();
      expect((await runs(id))[0]?.state).toBe('success');
    });
    await processed();
    const keys = (action: string) => new Set(executed.filter((one) => one.action === action).map(({ key }) => key));
    expect([keys('TOGGLE_FEATURE_OFF').size, keys('MARK_FEATURE_STALE').size]).toEqual([1, 1]);
    expect(executed.length).toBeGreaterThan(2);
    const types = (await service.emittedEvents()).slice(before).map(({ type }) => type);
    expect(types).toEqual(['actions-created', 'actions-run-succeeded']);
  });

  it('begins no action once it is disabled', async () => {
    const { id } = await create({ actions: [off, stale] as ActionSetBody['actions'] });
    execute = async () => {
      await service.call(DisableActionSet, { params: { projectId: project, id } });
      return null;
    };
    await send();
    await processed();
    expect(await outcomes(id)).toEqual([
      ['success', undefined],
      ['failed', 'The actions were disabled before it was its turn.'],
    ]);
    await send();
    await processed();
    expect(await runs(id)).toHaveLength(1);
  });

  it('says that an action was executed whose answer was lost, also where it was disabled meanwhile', async () => {
    const { id } = await create();
    execute = async () => {
      execute = () => null;
      await service.call(DisableActionSet, { params: { projectId: project, id } });
      throw unavailable('The reply was lost.');
    };
    await send();
    await eventually(async () => {
      await passTime();
      expect(await outcomes(id)).toEqual([['success', undefined]]);
    });
    expect(new Set(executed.map(({ key }) => key)).size).toBe(1);
  });

  it('does nothing half an hour after its signal, as when integrations was away over a weekend', async () => {
    const { id } = await create();
    const text = `insert into signal (endpoint_id, token_name, payload, created_at) values ($1, 'prod', $2, now() - interval '31 minutes')`;
    await service.database.query({ text }, [endpointId, JSON.stringify(alertmanagerSignal)]);
    await processed();
    expect(executed).toEqual([]);
    expect(await outcomes(id)).toEqual([
      ['failed', 'Its signal came more than half an hour ago. It is not tried again.'],
    ]);
  });

  it('keeps its endpoint during a run of slow actions, however long it takes', async () => {
    const { id } = await create({ actions: [off, stale] as ActionSetBody['actions'] });
    const isLeased = `select lease_until > clock_timestamp() + interval '50 seconds' as "isLeased" from signal_endpoint where id = ${endpointId}`;
    const leases: unknown[] = [];
    execute = async () => {
      leases.push(...(await service.database.query({ text: isLeased })));
      // The action takes 59 seconds.
      await service.database.query({
        text: `update signal_endpoint set lease_until = lease_until - interval '59 seconds'`,
      });
      return null;
    };
    await send();
    await processed();
    expect(leases).toEqual([{ isLeased: true }, { isLeased: true }]);
    expect((await runs(id))[0]?.state).toBe('success');
  });

  it('is refused for an actor that is no service account, a flag of another project, and filters that cannot hold', async () => {
    const invalid = [
      create({ actorId: 8 }),
      create({ actorId: 99 }),
      create({ match: { ...setBody().match, sourceId: 99_999 } }),
      create({ match: { ...setBody().match, payload: { a: { operator: 'NUM_GT', value: 'many' } } } }),
      create({ match: { ...setBody().match, payload: { '': { operator: 'IN', values: ['a'] } } } }),
      create({ actions: [{ ...stale, executionParams: { featureName: 'foreign' } }] as ActionSetBody['actions'] }),
      create({ actions: [{ ...stale, executionParams: {} }] as ActionSetBody['actions'] }),
      create({ actions: [tagWith('x')] as ActionSetBody['actions'] }),
      create({ actions: [tagWith('x'.repeat(51))] as ActionSetBody['actions'] }),
      create({
        actions: [
          { ...stale, executionParams: { featureName: 'checkout', project: 'other' } },
        ] as ActionSetBody['actions'],
      }),
    ];
    const results = await Promise.allSettled(invalid);
    expect(results.map((result) => result.status === 'rejected' && (result.reason as Error).name)).toEqual(
      invalid.map(() => 'ValidationError'),
    );
  });

  it('that another person has edited since it was read is not replaced', async () => {
    const { id } = await create();
    const params = { projectId: project, id };
    const tag = async () => (await service.replyHeaders(GetActionSet, { params }))['ETag']?.slice(1, -1) ?? '';
    const read = await tag();
    const update = (ifMatch: readonly string[], more: Partial<ActionSetBody>) =>
      service.call(UpdateActionSet, { params, body: setBody(more) }, mia, { ifMatch });
    await update([read], { description: 'Theirs' });
    await expect(update([read], { description: 'Mine' })).rejects.toMatchObject({ kind: 'PreconditionFailed' });
    expect(await service.call(GetActionSet, { params })).toMatchObject({ description: 'Theirs' });
    const headers = await service.replyHeaders(UpdateActionSet, { params, body: setBody() });
    expect(headers['ETag']).toBe(`"${await tag()}"`);
    await expect(service.call(GetActionSet, { params: { ...params, projectId: 'elsewhere' } })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });

  it('keeps of a filter only the operand that its operator takes', async () => {
    const payload: ActionSetBody['match']['payload'] = {
      status: { operator: 'IN', values: ['firing'], value: 'x'.repeat(1_000_000) },
      count: { operator: 'NUM_GT', value: '5', values: ['x'.repeat(1_000_000)] },
    };
    const { match } = await create({ match: { ...setBody().match, payload } });
    expect(match.payload).toEqual({
      status: { operator: 'IN', values: ['firing'] },
      count: { operator: 'NUM_GT', value: '5' },
    });
  });

  it('has a name of its own in its project, and holds its endpoint', async () => {
    const { id } = await create();
    await expect(create()).rejects.toMatchObject({ kind: 'NameExistsError' });
    const other = await create({ name: 'other' });
    await expect(
      service.call(UpdateActionSet, { params: { projectId: project, id: other.id }, body: setBody() }),
    ).rejects.toMatchObject({ kind: 'NameExistsError' });
    await expect(service.call(DeleteSignalEndpoint, { params: { id: endpointId } })).rejects.toMatchObject({
      kind: 'OperationDeniedError',
    });
    await expect(service.call(DeleteActionSet, { params: { projectId: 'elsewhere', id } })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
    const { actions } = await service.call(ListActionSets, { params: { projectId: project } });
    expect(actions.map(({ name }) => name)).toEqual(['switch off', 'other']);
  });
});
