import { adminTokenUserId, ListAvailableReviewers, SetChangeRequestConfig, SetTitle } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../test/started-change-requests.ts';

const { mia, ron, lee } = callers;
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };

let strict: StartedChangeRequests;
beforeAll(async () => {
  strict = await startChangeRequests({
    settings: {
      CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: '',
      CHANGE_REQUESTS_ADMINS_REVIEW_OWN: '',
      CHANGE_REQUESTS_VOLUNTARY: 'false',
    },
  });
});
afterAll(() => strict.stop());

it('refuses voluntary change requests when the setting disables them', async () => {
  await expect(strict.add(enable, lee, 'staging')).rejects.toMatchObject({
    kind: 'NoAccessError',
    message: 'Change requests are not enabled in this environment',
  });
  expect(await strict.stored()).toMatchObject({ change_request: 0, outbox: 0 });
});

it('lets administrators review only the requests of others unless the setting says otherwise', async () => {
  const params = { projectId: 'shop', environment: 'production' };
  await strict.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: true } });
  const { id } = await strict.add(enable, mia);
  await strict.move(id, 'In review', mia);
  for (const verdict of ['Approved', 'Rejected'] as const) {
    await expect(strict.move(id, verdict, mia)).rejects.toThrow(
      /^Authors can not review their own change request, .*CHANGE_REQUESTS_ADMINS_REVIEW_OWN=true$/,
    );
  }
  const { reviewers } = await strict.call(ListAvailableReviewers, { params }, mia);
  expect(reviewers.map((reviewer) => reviewer.id)).not.toContain(mia.id);
  await strict.move(id, 'Approved', ron);
  await strict.move(id, 'Applied', mia);
  const other = await strict.add(enable, lee);
  await strict.move(other.id, 'In review', lee);
  await strict.move(other.id, 'Approved', mia);
});

it('lets an admin token propose, rename, cancel and apply, but not review, unless the setting says otherwise', async () => {
  const token = { id: adminTokenUserId, name: 'admin', grants: [{ permission: 'ADMIN' as const }] };
  const params = { projectId: 'shop', environment: 'production' };
  await strict.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: true } });
  const { id } = await strict.add(enable, token);
  await strict.move(id, 'In review', token);
  for (const verdict of ['Approved', 'Rejected'] as const) {
    await expect(strict.move(id, verdict, token)).rejects.toThrow(/CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW=true$/);
  }
  await strict.move(id, 'Approved', mia);
  await strict.move(id, 'Applied', token);
  const third = await strict.add(enable, lee);
  await strict.move(third.id, 'In review', lee);
  await strict.move(third.id, 'Approved', mia);
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  for (const scheduled of [false, true]) {
    if (scheduled) await strict.move(third.id, 'Scheduled', token, { scheduledAt });
    await expect(strict.move(third.id, 'Rejected', token)).rejects.toThrow(/CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW=true$/);
  }
  const other = await strict.add(enable, lee);
  await strict.move(other.id, 'In review', lee);
  await strict.call(SetTitle, { params: { projectId: 'shop', id: other.id }, body: { title: 'Renamed' } }, token);
  expect((await strict.get(other.id)).title).toBe('Renamed');
  await strict.move(other.id, 'Cancelled', token);
});
