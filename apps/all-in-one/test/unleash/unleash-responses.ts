import { eventually } from '@bunting/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { type ApiResponse, adminClient, type TestUser, rootRole } from '../support/clients.ts';
import type { Platform } from '../support/platform.ts';
import {
  createSampleData,
  samplePath,
  type SampleIds,
  shapeMismatches,
  type ExpectedResponses,
  missingMembers,
} from './sample-data.ts';

// The shapes are facts about the interface of unleash-server 6.4.1: from its OpenAPI document, without its words, and with the members that
// a running one gave to the same requests after `createSampleData`.
const { responses, shapes } = JSON.parse(
  readFileSync(new URL('./unleash-6.4.1.json', import.meta.url), 'utf8'),
) as ExpectedResponses;

/** What differs on purpose or until it is built, with the reason. What no longer differs must leave this list. */
const known: Readonly<Record<string, readonly string[]>> = {
  // Counting them would scan every strategy and every hour of usage.
  'GET /api/admin/instance-admin/statistics': [
    'maxConstraintValues is missing',
    'maxConstraints is missing',
    'maxEnvironmentStrategies is missing',
    'previousDayMetricsBucketsCount is missing',
    // A checksum over the rest, which nothing here reads.
    'sum is missing',
  ],
  // No operation edits an application, so it has no time of an update.
  'GET /api/admin/metrics/applications': ['applications[].updatedAt is null, not string'],
  // Addresses of clients are not stored. Of flags and strategy types, an application names those that it uses; their own reads have the rest.
  'GET /api/admin/metrics/applications/{appName}': [
    'instances[].clientIp is missing',
    'seenToggles[].archived is missing',
    'seenToggles[].archivedAt is missing',
    'seenToggles[].createdAt is missing',
    'seenToggles[].impressionData is missing',
    'seenToggles[].lastSeenAt is missing',
    'strategies[].displayName is missing',
    'strategies[].editable is missing',
    'strategies[].parameters is missing',
    'strategies[].title is missing',
  ],
  // A tag type need not have a description.
  'GET /api/admin/tag-types': ['tagTypes[].description is null, not string'],
  // When a user last used a key is for administrators alone.
  'GET /api/admin/user-admin/search': ['[].seenAt is missing'],
  // A token may be valid without a limit in Bunting; its expiry date is then null.
  'GET /api/admin/user/tokens': ['pats[].expiresAt is null, not string'],
};

export function describeUnleashResponses(platform: () => Platform): void {
  describe('every read operation that Unleash 6.4.1 has as well', () => {
    let admin: TestUser;
    let ids: SampleIds;

    const send = async (url: string): Promise<ApiResponse> => {
      const path = samplePath(url, ids);
      const key = url.startsWith('/api/client')
        ? ids['client']
        : url.startsWith('/api/frontend')
          ? ids['frontend']
          : undefined;
      return key === undefined
        ? admin.api('GET', path)
        : platform().api('GET', path, undefined, { authorization: key });
    };

    beforeAll(async () => {
      admin = await adminClient(platform).createUser('fitting-admin', rootRole.admin);
      ids = await createSampleData(async (method, path, body, key) => {
        const {
          status,
          text,
          body: response,
        } = await admin.api(method, path, body, key === undefined ? {} : { authorization: key });
        if (status >= 300) throw new Error(`${method} ${path} responds ${status} ${text}`);
        return response;
      });
      await eventually(async () => {
        const { body } = await send('/api/admin/client-metrics/features/{name}');
        expect(body).toMatchObject({ seenApplications: ['fitting-app'] });
      });
    });

    it.each(Object.entries(responses))('returns the properties and types of Unleash: %s', async (name, expected) => {
      const response = await send(name.replace('GET ', ''));
      expect({ status: response.status, text: response.status === expected.status ? '' : response.text }).toEqual({
        status: expected.status,
        text: '',
      });
      const { body, has = [] } = expected;
      const found = body === undefined ? [] : shapeMismatches(response.body, body, shapes);
      const missing = missingMembers(response.body, has).map((member) => `${member} is missing`);
      expect([...new Set([...found, ...missing])].toSorted()).toEqual([...(known[name] ?? [])].toSorted());
    });
  });
}
