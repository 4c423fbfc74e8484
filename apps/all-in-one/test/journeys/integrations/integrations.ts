import type { Addon, ReplyOf, ListIntegrationEvents } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { type HttpDestination, startHttpDestination } from '@bunting/testing/destinations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { featurePath, platformClient } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** Events of the platform reach a webhook. */
export const describeIntegrations = (platform: () => Platform): void => {
  describe('an integration', () => {
    const project = 'integrated';
    let destination: HttpDestination;
    beforeAll(async () => {
      destination = await startHttpDestination();
      await platformClient(platform().api).createProject(project);
    });
    afterAll(() => destination.stop());

    it('is told of what happens in its project, as the event log has it', async () => {
      const { api } = platform();
      const client = platformClient(api);
      const created = await api<Addon>('POST', '/api/admin/addons', {
        provider: 'webhook',
        enabled: true,
        parameters: { url: destination.url },
        events: ['feature-created', 'feature-environment-enabled'],
        projects: [project],
      });
      expect([created.status, created.body.parameters]).toEqual([201, { url: '*****' }]);
      const { id } = created.body;

      await client.createFeature(project, 'integrated-flag');
      await client.toggle(featurePath(project, 'integrated-flag'), 'development', 'on');
      await eventually(() =>
        expect(destination.events().map(({ type }) => type)).toEqual([
          'feature-created',
          'feature-environment-enabled',
        ]),
      );
      const received = destination.events();
      const { events } = await client.events({ project });
      expect(received.map((event) => event.id).toSorted()).toEqual(
        events
          .filter(({ type }) => received.some((event) => event.type === type))
          .map((event) => event.id)
          .toSorted(),
      );
      await eventually(async () => {
        const attempts = await api<ReplyOf<typeof ListIntegrationEvents>>('GET', `/api/admin/addons/${id}/events`);
        expect(attempts.body.integrationEvents.map(({ state }) => state)).toEqual(['success', 'success']);
      });
      expect((await api('DELETE', `/api/admin/addons/${id}`)).status).toBe(200);
      expect((await api('GET', `/api/admin/addons/${id}`)).status).toBe(404);
    });

    it('is not created for an address within the network', async () => {
      const response = await platform().api('POST', '/api/admin/addons', {
        provider: 'webhook',
        enabled: true,
        parameters: { url: 'http://169.254.169.254/latest/meta-data/' },
        events: ['feature-created'],
      });
      expect([response.status, response.text]).toEqual([
        400,
        expect.stringContaining('must be an address of the internet'),
      ]);
    });
  });
};
