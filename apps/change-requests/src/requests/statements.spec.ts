import { type Bus, call, type CallRequest, inProcessBus, serve, type Subscription } from '@bunting/bus';
import {
  AddChanges,
  type AnyOperation,
  ChangeState,
  EditChange,
  GetChangeRequest,
  ListChangeRequests,
  ListPendingChangeRequests,
  ListPendingOfFeature,
  PreviewChangeRequest,
  type ReplyOf,
  SearchChangeRequests,
} from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { startOutboxProducer } from '@bunting/outbox';
import { openLog } from '@bunting/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeFeaturesService, fakeFeaturesService } from '../../test/fake-features-service.ts';
import { type FakeGateway, fakeGateway } from '../../test/fake-gateway.ts';
import { callContextOf, callers, freshChangeRequestsDatabase } from '../../test/started-change-requests.ts';
import { changeRequestsEndpoints } from '../endpoints.ts';
import { changeRequestMigrations as steps } from '../migrations/index.ts';
import { protectionSync } from '../protection/endpoints.ts';
import { approvalsRecheck } from '../reviews/endpoints.ts';
import { requestRolesByPolicy } from '../reviews/request-roles.ts';
import { dueJobsReader } from '../schedules/schedule-store.ts';
import { applyRequest } from '../states/endpoints.ts';
import { changeRequestEntities as entities } from '../unit-of-work/entities.ts';
import { unitOfWork } from '../unit-of-work/unit-of-work.ts';
import { changeRequestReader } from './request-read-store.ts';
import { reserveChangeIdsBy } from './request-store.ts';

// The service without its relay and its runner, whose statements would be counted as well.
const inner = inProcessBus();
let calls = 0;
const bus: Bus = {
  ...inner,
  call: (...request) => {
    calls++;
    return inner.call(...request);
  },
};
const names = Array.from({ length: 500 }, (_, nth) => `feature-${nth}`);
let database: Database;
let features: FakeFeaturesService;
let gateway: FakeGateway;
let served: Subscription;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await freshChangeRequestsDatabase();
  drop = () => fresh.drop();
  database = await openDatabase({ url: fresh.url, name: 'spec', migrations: steps, entities });
  features = await fakeFeaturesService(bus);
  gateway = await fakeGateway(bus, Object.values(callers));
  features.know(names);
  const outboxProducer = startOutboxProducer({
    producer: 'change-requests',
    database,
    bus,
    intervalMs: 60_000,
    retentionHours: 1,
    metrics: undefined,
    log: openLog('silent'),
  });
  await outboxProducer.stop();
  const reader = changeRequestReader(database);
  const transaction = unitOfWork(outboxProducer);
  const syncProtection = protectionSync(bus, dueJobsReader(database), transaction);
  const rolesOf = requestRolesByPolicy({ adminTokens: true, ownOfAdmins: true });
  const recheckApprovals = approvalsRecheck({ bus, reader, transaction, rolesOf });
  const context = {
    bus,
    reader,
    newChangeIds: reserveChangeIdsBy(database.query),
    transaction,
    rolesOf,
    allowsVoluntaryRequests: true,
    apply: applyRequest({ bus, reader, transaction, recheckApprovals }),
    recheckApprovals,
    syncProtection,
  };
  served = await serve(bus, changeRequestsEndpoints(context));
});
beforeEach(() => database.transaction(({ query }) => query('delete from change_request')));
afterAll(async () => {
  await served.stop();
  await features.stop();
  await gateway.stop();
  await database.close();
  await drop();
});

function send<O extends AnyOperation>(operation: O, about: CallRequest<O>): Promise<ReplyOf<O>> {
  return call(bus, operation, about, callContextOf(callers.mia, 60_000));
}

/** How many statements and calls it takes to answer. */
async function costOf<O extends AnyOperation>(operation: O, about: CallRequest<O>) {
  const before = { statements: database.statements, calls };
  await send(operation, about);
  return { statements: database.statements - before.statements, calls: calls - before.calls };
}

const projectId = 'shop';
const environment = 'production';
function enabling(nth: number) {
  return { action: 'updateEnabled', feature: names[nth], payload: { enabled: true } };
}
function archiving(nth: number) {
  return { action: 'archiveFeature', feature: names[nth] };
}
function adding(nth: number) {
  return {
    action: 'addStrategy',
    feature: names[nth],
    payload: { name: 'default', constraints: [], parameters: {} },
  };
}
function propose(body: unknown, isNew = false) {
  return send(AddChanges, { params: { projectId, environment }, query: { new: isNew }, body });
}
function someChanges(count: number) {
  return Array.from({ length: count }, (_, nth) => enabling(nth));
}
function move(id: number, state: 'In review' | 'Approved') {
  return send(ChangeState, { params: { projectId, id }, body: { state } });
}

describe('the number of statements and calls', () => {
  it('is the same for a change that is added to a request of one, and of two hundred', async () => {
    const addition = { params: { projectId, environment }, body: adding(400) };
    await propose(someChanges(1));
    const small = await costOf(AddChanges, addition);
    await propose(someChanges(200));
    expect(await costOf(AddChanges, addition)).toEqual(small);
    // The operation itself, what the changes mean, what all of them would come to, and the environments of the project.
    expect(small.calls).toBe(4);
    expect(small.statements).toBeLessThanOrEqual(8);
  });

  it('is the same for one change and for a body of two hundred', async () => {
    const one = await costOf(AddChanges, { params: { projectId, environment }, body: someChanges(1) });
    await database.transaction(({ query }) => query('delete from change_request'));
    expect(await costOf(AddChanges, { params: { projectId, environment }, body: someChanges(200) })).toEqual(one);
  });

  it('is the same for an edit of a change in a small and in a large request', async () => {
    const edit = async () => {
      const { id, features: shown } = await propose(adding(0));
      const changeId = shown[0]?.changes.at(-1)?.id ?? 0;
      return costOf(EditChange, { params: { projectId, id, changeId }, body: adding(0) });
    };
    const small = await edit();
    await propose(someChanges(200));
    expect(await edit()).toEqual(small);
  });

  it('is the same for a list of two requests, and of sixty, whatever is in them', async () => {
    const createRequests = async (from: number, to: number): Promise<void> => {
      for (let nth = from; nth < to; nth++) {
        const { id } = await propose([enabling(nth), enabling(499), archiving(nth)], true);
        await move(id, 'In review');
      }
    };
    const costs = async () => ({
      pending: await costOf(ListPendingChangeRequests, { params: { projectId } }),
      all: await costOf(ListChangeRequests, { params: { projectId } }),
      found: await costOf(SearchChangeRequests, { query: {} }),
      reviewable: await costOf(SearchChangeRequests, { query: { reviewable: true } }),
      ofFeature: await costOf(ListPendingOfFeature, { params: { projectId, featureName: 'feature-499' } }),
    });
    await createRequests(0, 2);
    const few = await costs();
    await createRequests(2, 60);
    expect(await send(ListPendingChangeRequests, { params: { projectId } })).toHaveLength(60);
    expect(await costs()).toEqual(few);
  });

  it('is the same to read, preview, approve and apply a request of two changes and of four hundred', async () => {
    const costs = async (count: number) => {
      for (let nth = 0; nth < count; nth += 200) await propose(someChanges(count).slice(nth, nth + 200));
      const { id } = await propose(enabling(0));
      const params = { projectId, id };
      const shown = await costOf(GetChangeRequest, { params });
      const previewed = await costOf(PreviewChangeRequest, { params });
      await move(id, 'In review');
      const approved = await costOf(ChangeState, { params, body: { state: 'Approved' } });
      const applied = await costOf(ChangeState, { params, body: { state: 'Applied' } });
      return { shown, previewed, approved, applied };
    };
    expect(await costs(400)).toEqual(await costs(2));
  });
});
