import { adminTokenUserId, ListAvailableReviewers, SetChangeRequestConfig, SetTitle } from '@bunting/contracts';
import { host, openLog } from '@bunting/runtime';
import { freshDatabase, startNats, type TestNats } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callers, startChangeRequests, type StartedChangeRequests } from '../test/started-change-requests.ts';
import { changeRequestsService } from './service.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };

describe('the service over NATS', () => {
  let nats: TestNats;
  let service: StartedChangeRequests;
  beforeAll(async () => {
    nats = await startNats();
    service = await startChangeRequests({ settings: nats.settings });
  });
  afterAll(async () => {
    await service.stop();
    await nats.stop();
  });

  it('adds changes and lists them', async () => {
    const request = await service.add(enable);
    expect(await service.pending()).toEqual([request]);
  });

  it('passes on what the features service refuses, as it was said', async () => {
    await expect(service.add({ ...enable, feature: 'nowhere' })).rejects.toMatchObject({
      kind: 'NotFoundError',
      message: 'Could not find feature nowhere in project shop',
    });
  });
});

describe('the service', () => {
  it('says which setting it misses', async () => {
    await expect(host([changeRequestsService], { environment: {}, log: openLog('silent') })).rejects.toThrow(
      /CHANGE_REQUESTS_DATABASE_URL is required/,
    );
  });

  it('finds what it stored after a restart', async () => {
    const fresh = await freshDatabase('restart');
    const first = await startChangeRequests({ url: fresh.url });
    const request = await first.add(enable);
    await first.stop();
    const second = await startChangeRequests({ url: fresh.url });
    expect(await second.pending()).toEqual([request]);
    await second.stop();
    await fresh.drop();
  });
});

describe('a service with strict settings', () => {
  const { mia, ron, lee } = callers;

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
    const before = await strict.stored();
    await expect(strict.add(enable, lee, 'staging')).rejects.toMatchObject({
      kind: 'NoAccessError',
      message: 'Change requests are not enabled in this environment',
    });
    expect(await strict.stored()).toEqual(before);
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
      await expect(strict.move(third.id, 'Rejected', token)).rejects.toThrow(
        /CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW=true$/,
      );
    }
    const other = await strict.add(enable, lee);
    await strict.move(other.id, 'In review', lee);
    await strict.call(SetTitle, { params: { projectId: 'shop', id: other.id }, body: { title: 'Renamed' } }, token);
    expect((await strict.get(other.id)).title).toBe('Renamed');
    await strict.move(other.id, 'Cancelled', token);
  });
});
