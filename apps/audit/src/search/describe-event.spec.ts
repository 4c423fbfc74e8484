import { type EventType, eventTypes } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aLoggedEvent } from '../../test/builders.ts';
import { describeEvent, type LoggedEvent } from './describe-event.ts';
import { describeStrategyChange } from './describe-strategy-change.ts';

const base = 'https://bunting.example';
const user = '**mia@example.com**';
const flag = `**[banner](${base}/projects/shop/features/banner)**`;
const project = `**[shop](${base}/projects/shop)**`;
const production = { environment: 'production' };
const request = `**[#12](${base}/projects/shop/change-requests/12)**`;
const inProduction = `in the **production** environment in project ${project}`;

function described(type: EventType, said: Partial<LoggedEvent> = {}) {
  return describeEvent(aLoggedEvent({ type, ...said }), base);
}

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

const gradual = { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'default', groupId: 'banner' } };
function changed(before: unknown, after: unknown) {
  return describeStrategyChange(before, after, 'production');
}
const start = 'by updating strategy **flexibleRollout** in **production**';

describe('The description of a changed strategy', () => {
  it('names the strategy by its title, or else by its type', () => {
    expect(changed(gradual, { ...gradual, title: 'Half of [Oslo]' })).toBe(
      'by updating strategy **Half of \\[Oslo\\]** in **production**',
    );
  });

  it('describes changes of stickiness, rollout and group, in this order', () => {
    const after = { ...gradual, parameters: { groupId: 'other', stickiness: 'userId', rollout: '25' } };
    expect(changed(gradual, after)).toBe(
      `${start} stickiness from default to userId; rollout from 50% to 25%; groupId from banner to other`,
    );
    expect(changed(gradual, { ...gradual, parameters: { ...gradual.parameters, rollout: '25' } })).toBe(
      `${start} rollout from 50% to 25%`,
    );
  });

  it('omits "from" for a value that was absent, and names a value that was removed', () => {
    expect(changed({ name: 'flexibleRollout' }, gradual)).toBe(
      `${start} stickiness to default; rollout to 50%; groupId to banner`,
    );
    expect(changed(gradual, { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'default' } })).toBe(
      `${start} groupId from banner to nothing`,
    );
  });

  it.each([
    ['NOT_IN', 'is not one of'],
    ['SEMVER_GTE', 'is a SemVer greater than or equal to'],
    ['REGEX', 'matches the regular expression'],
    ['constructor', 'constructor'],
  ])('names the operator %s of a constraint in words: "%s"', (operator, words) => {
    const constraints = [{ contextName: 'x', operator, value: '1' }];
    expect(changed(gradual, { ...gradual, constraints })).toBe(
      `${start} constraints from empty set of constraints to [x ${words} 1]`,
    );
  });

  it('writes several values in parentheses, a single one without, and negations', () => {
    const constraints = [
      { contextName: 'country', operator: 'IN', values: ['NO', 'SE'], inverted: true },
      { contextName: 'app_version', operator: 'SEMVER_GT', value: '1.2.3', values: [] },
    ];
    expect(changed({ ...gradual, constraints }, { ...gradual, constraints: [] })).toBe(
      `${start} constraints from [country not is one of (NO,SE), app\\_version is a SemVer greater than 1.2.3] to empty set of constraints`,
    );
  });

  it('names segments by their ids', () => {
    expect(changed({ ...gradual, segments: [] }, { ...gradual, segments: [1, 2] })).toBe(
      `${start} segments from empty set of segments to (1,2)`,
    );
  });

  it('describes strategies whose only parameter is a list by that list', () => {
    const hosts = (hostNames: string) => ({ name: 'applicationHostname', parameters: { hostNames } });
    expect(changed(hosts(''), hosts('a.example, b.example'))).toBe(
      'by updating strategy **applicationHostname** in **production** hostNames from empty set of hostNames to (a.example,b.example)',
    );
    const addresses = (IPs: string) => ({ name: 'remoteAddress', parameters: { IPs } });
    expect(changed(addresses('10.0.0.1'), addresses('10.0.0.2'))).toBe(
      'by updating strategy **remoteAddress** in **production** IPs from (10.0.0.1) to (10.0.0.2)',
    );
  });

  it('escapes all text that users chose', () => {
    const after = {
      name: 'flexibleRollout',
      parameters: { rollout: '*', stickiness: '_', groupId: '`' },
      constraints: [{ contextName: '[c]', operator: '<op>', values: ['**v**'] }],
      segments: ['[s](x)'],
    };
    expect(changed(undefined, after)).toBe(
      `${start} stickiness to \\_; rollout to \\*%; groupId to \\\`; constraints from empty set of constraints to ` +
        '[\\[c\\] \\<op\\> (\\*\\*v\\*\\*)]; segments from empty set of segments to (\\[s\\](x))',
    );
  });

  it.each([undefined, null, 7, 'text', [], { constraints: 'x', parameters: [], segments: {}, name: 3, title: {} }])(
    'exists for the invalid strategy %j',
    (strategy) => {
      expect(changed(strategy, strategy)).toMatch(/^by updating strategy \*\*(unknown|3)\*\* in \*\*production\*\*$/);
    },
  );
});
