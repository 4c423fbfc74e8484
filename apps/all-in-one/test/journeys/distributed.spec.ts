import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, expectRefusal, featurePath, platformClient } from '../support/clients.ts';
import { describePrivateProjects } from './access/private-projects.ts';
import { describeConcurrency, describeReadYourWrites } from './consistency/concurrency.ts';
import { describeEventFeed } from './events/events.ts';
import { describeImport } from './features/import.ts';
import { type Distributed, startDistributed } from '../support/platform.ts';

describe('the platform in six processes', () => {
  let platform: Distributed;
  beforeAll(async () => {
    platform = await startDistributed();
  });
  afterAll(() => platform.stop());

  // The bus carries the same texts within a process as over NATS, so that most journeys end alike in both. These can end differently:
  // their messages are large, the projection of another process has to be current, or writes arrive in the order of several connections.
  describeImport(() => platform);
  describeReadYourWrites(() => platform);
  describePrivateProjects(() => platform);
  describeEventFeed(() => platform);
  describeConcurrency(() => platform);

  // Last, because the services that they stop are not started again.
  describe('while a service is unavailable', () => {
    const address = featurePath('away', 'away-flag');
    const pending = '/api/admin/projects/away/change-requests/pending';
    let api: Api;
    const expectAway = async (method: string, path: string, body?: unknown) => {
      const response = await api(method, path, body);
      expectRefusal(response, 503, 'ServiceUnavailable');
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      // A call that waits until its timeout is refused with another message.
      expect(response.text).toContain('No service answers');
    };

    beforeAll(async () => {
      ({ api } = platform);
      await platformClient(api).createProject('away');
      await platformClient(api).createFeature('away', 'away-flag');
    });

    /** A call during the end of a service waits for its timeout; later calls are refused immediately. */
    const killService = async (name: string, ...request: readonly [method: string, path: string]) => {
      await platform.killService(name);
      await eventually(() => expectAway(...request));
    };

    it('refuses its operations with 503 and Retry-After, and serves the operations of the other services', async () => {
      await killService('change-requests', 'GET', pending);
      const change = { action: 'updateEnabled', feature: 'away-flag', payload: { enabled: true } };
      await expectAway('GET', pending);
      await expectAway('POST', '/api/admin/projects/away/environments/development/change-requests', change);

      const { eventTypes, search, toggle } = platformClient(api);
      await toggle(address, 'development', 'on');
      expect((await search({ project: 'IS:away', status: 'development:enabled' })).total).toBe(1);
      expect(await eventTypes({ feature: 'away-flag', limit: 1 })).toEqual(['feature-environment-enabled']);
    });

    it('still searches features while the features service is unavailable, and marks the response as stale', async () => {
      await killService('features', 'GET', address);
      await expectAway('GET', address);
      await expectAway('POST', '/api/admin/projects/away/features', { name: 'away-new' });

      for (const response of [
        await api('GET', '/api/admin/search/features?project=IS:away'),
        await api('POST', '/api/admin/events/search', { project: 'away', type: 'feature-created' }),
      ]) {
        expect({ status: response.status, text: response.text }).toMatchObject({ status: 200 });
        expect(response.text).toContain('away-flag');
        expect(response.headers.get('bunting-stale')).toMatch(/^\d+$/);
      }
    });
  });
});
