import { freshDatabase, startNats, type TestNats } from '@bunting/testing';
import { host, openLog } from '@bunting/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedChangeRequests, startChangeRequests } from '../test/started-change-requests.ts';
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
