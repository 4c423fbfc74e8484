import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ProposeImport, SetChangeRequestConfig } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

let service: StartedChangeRequests;
let replica: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
  replica = await startChangeRequests({ url: service.url });
});
beforeEach(() => service.reset());
afterAll(async () => {
  await replica.stop();
  await service.stop();
});

const change = (feature: string, enabled: boolean) => ({
  action: 'updateEnabled' as const,
  feature,
  segment: null,
  payload: { enabled },
  snapshot: { enabled: !enabled },
});
const imported = (importId: string, at = service) =>
  at.call(ProposeImport, {
    body: {
      importId,
      project: 'shop',
      environment: 'production',
      title: 'Import of 2 features',
      by: { id: callers.lee.id, name: callers.lee.name },
      changes: [change('checkout', true), change('banner', false)],
    },
  });

it('an import creates a request and sends it to review in the name of the importing user', async () => {
  const params = { projectId: 'shop', environment: 'production' };
  await service.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: true, requiredApprovals: 2 } });
  const { id } = await imported(randomUUID());
  expect(await service.get(id, callers.kim)).toMatchObject({
    title: 'Import of 2 features',
    state: 'In review',
    environment: 'production',
    minApprovals: 2,
    createdBy: { id: callers.lee.id, username: callers.lee.name },
    features: [
      { name: 'checkout', changes: [{ action: 'updateEnabled', payload: { enabled: true } }] },
      { name: 'banner', changes: [{ action: 'updateEnabled', payload: { enabled: false } }] },
    ],
  });
  const emitted = (await service.emittedEvents()).filter(
    ({ data }) => (data as { changeRequestId?: number }).changeRequestId === id,
  );
  expect(emitted.map(({ type, createdBy }) => [type, createdBy])).toEqual(
    ['change-request-created', 'change-added', 'change-added', 'change-request-sent-to-review'].map((type) => [
      type,
      callers.lee.name,
    ]),
  );
});

it('an import does not change the draft of its author', async () => {
  const draft = await service.add(
    { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } },
    callers.lee,
  );
  const { id } = await imported(randomUUID());
  expect(id).not.toBe(draft.id);
  expect(await service.get(draft.id, callers.lee)).toEqual(draft);
});

it('an import creates one request, however often and by whichever replica it is processed', async () => {
  const importId = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, nth) => imported(importId, nth % 2 === 0 ? service : replica)),
  );
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(await service.stored()).toMatchObject({ change_request: 1, change: 2, outbox: 4 });
});
