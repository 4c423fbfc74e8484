import { type EventType, eventTypes } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aLoggedEvent } from '../../test/builders.ts';
import { describeEvent, type LoggedEvent } from './describe-event.ts';

const base = 'https://bunting.example';
const user = '**mia@example.com**';
const flag = `**[banner](${base}/projects/shop/features/banner)**`;
const project = `**[shop](${base}/projects/shop)**`;
const production = { environment: 'production' };
const request = `**[#12](${base}/projects/shop/change-requests/12)**`;
const inProduction = `in the **production** environment in project ${project}`;

const described = (type: EventType, said: Partial<LoggedEvent> = {}) =>
  describeEvent(aLoggedEvent({ type, ...said }), base);

describe('The description of an event', () => {
  const strategy = { name: 'flexibleRollout', title: 'Half', parameters: { rollout: '50' } };
  const ofRequest = { ...production, featureName: null, data: { changeRequestId: 12 } };

  it.each<[EventType, Partial<LoggedEvent>, string, string]>([
    ['feature-created', {}, 'Flag created', `${user} created ${flag} in project ${project}`],
    ['feature-archived', {}, 'Flag archived', `${user} archived **banner** in project ${project}`],
    ['feature-deleted', {}, 'Flag deleted', `${user} deleted **banner** in project ${project}`],
    ['feature-revived', {}, 'Flag revived', `${user} revived ${flag} in project ${project}`],
    ['feature-metadata-updated', {}, 'Flag metadata updated', `${user} updated ${flag} metadata in project ${project}`],
    ['feature-stale-on', {}, 'Flag marked as stale', `${user} marked ${flag} as stale in project ${project}`],
    [
      'feature-stale-off',
      {},
      'Flag stale marking removed',
      `${user} removed the stale marking of ${flag} in project ${project}`,
    ],
    [
      'feature-potentially-stale-on',
      {},
      'Flag potentially stale',
      `${flag} was marked as potentially stale in project ${project}`,
    ],
    [
      'feature-environment-enabled',
      production,
      'Flag enabled',
      `${user} enabled ${flag} for the **production** environment in project ${project}`,
    ],
    [
      'feature-environment-disabled',
      production,
      'Flag disabled',
      `${user} disabled ${flag} for the **production** environment in project ${project}`,
    ],
    [
      'feature-environment-variants-updated',
      production,
      'Flag variants updated',
      `${user} updated the variants of ${flag} for the **production** environment in project ${project}`,
    ],
    [
      'feature-strategy-add',
      { ...production, data: strategy },
      'Flag strategy added',
      `${user} added strategy **Half** to ${flag} for the **production** environment in project ${project}`,
    ],
    [
      'feature-strategy-remove',
      { ...production, preData: { name: 'default' } },
      'Flag strategy removed',
      `${user} removed strategy **default** from ${flag} for the **production** environment in project ${project}`,
    ],
    [
      'feature-strategy-update',
      { ...production, preData: strategy, data: { ...strategy, parameters: { rollout: '25' } } },
      'Flag strategy updated',
      `${user} updated ${flag} in project ${project} by updating strategy **Half** in **production** rollout from 50% to 25%`,
    ],
    [
      'feature-tagged',
      { data: { type: 'simple', value: 'nordic' } },
      'Flag tagged',
      `${user} tagged ${flag} with **simple:nordic** in project ${project}`,
    ],
    [
      'feature-untagged',
      { preData: { type: 'simple', value: 'nordic' } },
      'Flag untagged',
      `${user} untagged ${flag} with **simple:nordic** in project ${project}`,
    ],
    [
      'feature-project-change',
      { data: { oldProject: 'attic', newProject: 'shop' } },
      'Flag moved to a new project',
      `${user} moved ${flag} from **attic** to ${project}`,
    ],
    ['feature-completed', {}, 'Flag marked as completed', `${flag} was marked as completed in project ${project}`],
    [
      'segment-created',
      { featureName: null, data: { id: 1, name: 'Nordic users' } },
      'Segment created',
      `${user} created segment **Nordic users** in project ${project}`,
    ],
    [
      'segment-deleted',
      { project: null, featureName: null, preData: { id: 1, name: 'Nordic users' } },
      'Segment deleted',
      `${user} deleted segment **Nordic users**`,
    ],
    [
      'context-field-updated',
      { project: null, data: { name: 'region' } },
      'Context field updated',
      `${user} updated context field **region**`,
    ],
    [
      'api-token-created',
      { project: null, data: { tokenName: 'ci' } },
      'API token created',
      `${user} created API token **ci**`,
    ],
    ['user-created', { project: null, data: { id: 7 } }, 'User created', `${user} created user **7**`],
    ['project-created', { featureName: null }, 'Project created', `${user} created project ${project}`],
    ['project-deleted', { featureName: null }, 'Project deleted', `${user} deleted project **shop**`],
    [
      'change-request-created',
      ofRequest,
      'Change request created',
      `${user} created change request ${request} ${inProduction}`,
    ],
    [
      'change-request-sent-to-review',
      ofRequest,
      'Change request sent to review',
      `${user} sent change request ${request} ${inProduction} to review`,
    ],
    [
      'change-request-approval-added',
      ofRequest,
      'Change request approval added',
      `${user} added an approval to change request ${request} ${inProduction}`,
    ],
    [
      'change-request-scheduled',
      { ...ofRequest, data: { changeRequestId: 12, scheduledDate: '2026-12-01' } },
      'Change request scheduled',
      `${user} scheduled change request ${request} ${inProduction} for **2026-12-01**`,
    ],
    [
      'change-request-schedule-suspended',
      { ...ofRequest, data: { changeRequestId: 12, reason: 'Archived [it]' } },
      'Change request suspended',
      `Change request ${request} ${inProduction} was suspended: Archived \\[it\\]`,
    ],
    [
      'change-added',
      { ...ofRequest, featureName: 'banner' },
      'Change added',
      `${user} added a change to change request ${request} ${inProduction}`,
    ],
    ['feature-favorited', { project: null }, 'feature-favorited', `${user} triggered **feature-favorited**`],
    ['features-imported', {}, 'features-imported', `${user} triggered **features-imported**`],
  ])('of %s describes what happened', (type, said, label, summary) => {
    expect(described(type, said)).toEqual({ label, summary });
  });

  it('escapes all text that users chose, also in links', () => {
    const { summary } = described('feature-created', {
      createdBy: '**Eve** <eve>',
      featureName: 'a](http://evil.example)',
      project: '../x',
    });
    expect(summary).toBe(
      '**\\*\\*Eve\\*\\* \\<eve\\>** created ' +
        `**[a\\](http\\://evil.example)](${base}/projects/..%2Fx/features/a%5D%28http%3A%2F%2Fevil.example%29)** ` +
        `in project **[../x](${base}/projects/..%2Fx)**`,
    );
  });

  it('has links relative to the root when no public URL is configured', () => {
    expect(describeEvent(aLoggedEvent(), '').summary).toContain('**[banner](/projects/shop/features/banner)**');
  });

  it.each(eventTypes)('of %s exists for arbitrary data', (type) => {
    const shapes: Partial<LoggedEvent>[] = [
      {},
      { project: null, featureName: null, environment: null },
      { data: { name: { not: 'text' }, changeRequestId: [], reason: 7, type: null, parameters: 'x', constraints: {} } },
      { data: JSON.parse('{"__proto__": {"name": "polluted"}}') as Record<string, unknown>, createdBy: '' },
    ];
    for (const shape of shapes) {
      const { label, summary } = described(type, shape);
      expect(label).not.toBe('');
      expect(summary).not.toMatch(/undefined|\[object|polluted|\*\*\*\*/);
    }
  });
});
