import type { ConflictCode } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, aRequest } from '../../test/builders.ts';
import {
  addConflictsWithOtherRequests,
  conflictRefusal,
  conflictsInPreview,
  scheduleConflictsOf,
  type ScheduledChange,
  type ScheduledRequest,
  segmentConflicts,
  subjectsToCompare,
} from './conflicts.ts';

const beta = { id: 4, name: 'beta users' };
function plan(
  change: Partial<ScheduledChange> & Pick<ScheduledChange, 'action'>,
  about: Partial<ScheduledRequest> = {},
): ScheduledRequest {
  return {
    id: 40,
    title: null,
    environment: 'production',
    changes: [{ feature: 'checkout', segment: null, payload: {}, ...change }],
    ...about,
  };
}
function update(more: object) {
  return { action: 'updateStrategy', payload: { id: 's1', ...more } } as const;
}
function variants(name: string) {
  return { action: 'patchVariant', payload: { variants: [{ name, weight: 1000 }] } } as const;
}
function order(...payload: object[]) {
  return { action: 'reorderStrategy', payload } as const;
}
function depend(feature: string, more: object = {}) {
  return { action: 'addDependency', payload: { feature, ...more } } as const;
}
function segment(action: 'updateSegment' | 'deleteSegment', more: object = {}) {
  return { action, feature: null, segment: 4, payload: { id: 4, ...more } } as const;
}
function mine(change: Parameters<typeof aChange>[0] | object) {
  return aChange(change as Parameters<typeof aChange>[0]);
}
function mySegment(action: 'updateSegment' | 'deleteSegment', more: object = {}) {
  return aChange({ action, segment: beta, payload: { id: 4, ...more } });
}
function collides(change: ReturnType<typeof aChange>, planned: ScheduledRequest, environment = 'production') {
  return scheduleConflictsOf(change, environment, [planned]).length === 1;
}

describe('a change collides with a scheduled request', () => {
  it.each([
    ['archives what it changes', mine({ action: 'archiveFeature' }), plan(update({}))],
    ['archives a parent', mine({ action: 'archiveFeature', feature: 'parent' }), plan(depend('parent'))],
    [
      'deletes the strategy that it updates',
      mine({ action: 'deleteStrategy', payload: { id: 's1' } }),
      plan(update({})),
    ],
    [
      'deletes a strategy that it moves',
      mine({ action: 'deleteStrategy', payload: { id: 's1' } }),
      plan(order({ id: 's1', sortOrder: 3 })),
    ],
    ['updates the same property otherwise', mine(update({ title: 'a' })), plan(update({ title: 'b' }))],
    [
      'updates a strategy that it deletes',
      mine(update({ title: 'a' })),
      plan({ action: 'deleteStrategy', payload: { id: 's1' } }),
    ],
    ['replaces the variants otherwise', mine(variants('a')), plan(variants('b'))],
    [
      'puts a strategy at another place',
      mine(order({ id: 's1', sortOrder: 1 })),
      plan(order({ id: 's2', sortOrder: 2 }, { id: 's1', sortOrder: 2 })),
    ],
    ['depends on another parent', mine(depend('a')), plan(depend('b'))],
    ['makes a child of its parent', mine({ ...depend('x'), feature: 'parent' }), plan(depend('parent'))],
    ['makes a parent of its child', mine({ ...depend('checkout'), feature: 'x' }), plan(depend('parent'))],
    ['takes its dependency away', mine({ action: 'deleteDependency' }), plan(depend('parent'))],
    [
      'updates a segment otherwise',
      mySegment('updateSegment', { name: 'a' }),
      plan(segment('updateSegment', { name: 'b' })),
    ],
    ['updates a segment that it deletes', mySegment('updateSegment', { name: 'a' }), plan(segment('deleteSegment'))],
    ['deletes a segment that it updates', mySegment('deleteSegment'), plan(segment('updateSegment', { name: 'b' }))],
    [
      'deletes a segment that it uses',
      mySegment('deleteSegment'),
      plan({ action: 'addStrategy', payload: { name: 'default', segments: [9, 4] } }),
    ],
  ])('when that request %s', (_, change, planned) => {
    expect(collides(change, planned)).toBe(true);
  });

  it.each([
    ['says the same', mine(update({ title: 'a' })), plan(update({ title: 'a' }))],
    [
      'says the same with its members in another order',
      mine(update({ parameters: { rollout: '50', stickiness: 'userId' } })),
      plan(update({ parameters: { stickiness: 'userId', rollout: '50' } })),
    ],
    [
      'says the same in other words',
      mine(update({ title: '', segments: [1, 2], constraints: [{ contextName: 'a', operator: 'IN', values: ['b'] }] })),
      plan(
        update({
          title: null,
          segments: [2, 1],
          constraints: [{ contextName: 'a', operator: 'IN', values: ['b'], inverted: false, caseInsensitive: false }],
        }),
      ),
    ],
    [
      'speaks of other parameters',
      mine(update({ parameters: { rollout: '50' } })),
      plan(update({ parameters: { stickiness: 'userId' } })),
    ],
    ['speaks of other properties', mine(update({ title: 'a' })), plan(update({ disabled: true }))],
    [
      'speaks of another strategy',
      mine(update({ title: 'a' })),
      plan({ ...update({}), payload: { id: 's2', title: 'b' } }),
    ],
    ['speaks of another feature', mine(variants('a')), plan({ ...variants('b'), feature: 'banner' })],
    ['archives it as well', mine({ action: 'archiveFeature' }), plan({ action: 'archiveFeature' })],
    ['turns it on', mine({ action: 'updateEnabled', payload: { enabled: true } }), plan(update({}))],
    ['is about another environment', mine(variants('a')), plan(variants('b'), { environment: 'development' })],
  ])('but not where it %s', (_, change, planned) => {
    expect(collides(change, planned)).toBe(false);
  });

  it('in another environment too, when it is in effect everywhere', () => {
    expect(collides(mine({ action: 'archiveFeature' }), plan(update({})), 'development')).toBe(true);
  });
});

describe('a preview among other requests', () => {
  const change = mine(update({ title: 'a' }));
  const previewed = { id: change.id, action: change.action };
  const none = { before: null, after: null, diff: [] };
  const preview = {
    features: [{ name: 'checkout', ...none, changes: [previewed] }],
    segments: [{ id: 4, name: 'renamed since', ...none, changes: [{ id: 2, action: 'deleteSegment' }] }],
    applicable: true,
  };
  const request = aRequest({ changes: [change, { ...mySegment('deleteSegment'), id: 2 }] });

  it('names the schedules that a change would break, by title where they have one', () => {
    const scheduled = [plan(update({ title: 'b' })), plan(update({ title: 'c' }), { id: 41, title: 'Night release' })];
    const { features, applicable } = addConflictsWithOtherRequests(preview, request, { scheduled, uses: [] });
    expect(features[0]?.changes[0]).toEqual({
      ...previewed,
      scheduleConflicts: { changeRequests: [{ id: 40 }, { id: 41, title: 'Night release' }] },
    });
    // It is only a warning: the request may still be applied.
    expect(applicable).toBe(true);
  });

  it('refuses to delete a segment that another request is about to use', () => {
    const { segments, applicable } = addConflictsWithOtherRequests(preview, request, {
      scheduled: [],
      uses: [{ id: 40, segment: 4 }],
    });
    expect(segments[0]?.changes[0]).toMatchObject({
      conflict: 'Segment renamed since is in use',
      conflictCode: 'segment-in-use',
    });
    expect(applicable).toBe(false);
  });

  it('has no conflict of the request with itself', () => {
    const scheduled = [plan(update({ title: 'b' }), { id: request.id })];
    const found = { scheduled, uses: [{ id: request.id, segment: 4 }] };
    expect(addConflictsWithOtherRequests(preview, request, found)).toEqual(preview);
  });
});

describe('applying a request', () => {
  const deletion = aChange({ id: 7, action: 'deleteSegment', segment: beta });
  const request = aRequest({ changes: [deletion] });

  it('is in conflict if it deletes a segment that another request is about to use', () => {
    expect(segmentConflicts(request, [{ id: 40, segment: beta.id }])).toEqual([
      { code: 'segment-in-use', message: 'Segment beta users is in use', segment: beta.id, changeId: 7 },
    ]);
  });

  it.each([
    ['the request itself uses the segment', request, { id: request.id, segment: beta.id }],
    ['another request uses another segment', request, { id: 40, segment: 5 }],
    [
      'it updates the segment',
      aRequest({ changes: [{ ...deletion, action: 'updateSegment' }] }),
      { id: 40, segment: 4 },
    ],
  ])('has no such conflict if %s', (_case, applied, use) => {
    expect(segmentConflicts(applied, [use])).toEqual([]);
  });
});

it('changes are compared by their features, the parents that they name, and their segments', () => {
  const changes = [
    aChange({ action: 'updateEnabled' }),
    aChange({ action: 'addDependency', payload: { feature: 'payment' } }),
    aChange({ action: 'updateSegment', segment: beta }),
  ];
  expect(subjectsToCompare(changes)).toEqual({ features: ['checkout', 'payment'], segments: [beta.id] });
});

function conflict(conflictCode: ConflictCode, text: string) {
  return { conflictCode, conflict: text };
}
const action = 'updateStrategy';
const states = { before: null, after: null, diff: [] };
const preview = {
  features: [
    { name: 'checkout', ...states, ...conflict('feature-archived', 'Archived'), changes: [{ id: 1, action }] },
    {
      name: 'banner',
      ...states,
      changes: [
        { id: 2, action, ...conflict('strategy-deleted', 'Strategy is gone') },
        { id: 3, action },
      ],
    },
  ],
  segments: [
    {
      id: 4,
      name: 'beta',
      ...states,
      changes: [{ id: 5, action: 'deleteSegment', ...conflict('segment-in-use', 'Segment beta is in use') }],
    },
  ],
  applicable: false,
};

describe('the conflicts of applying', () => {
  it('name the feature or segment, and the change if it is one', () => {
    expect(conflictsInPreview(preview)).toEqual([
      { code: 'feature-archived', message: 'Archived', feature: 'checkout' },
      { code: 'strategy-deleted', message: 'Strategy is gone', feature: 'banner', changeId: 2 },
      { code: 'segment-in-use', message: 'Segment beta is in use', segment: 4, changeId: 5 },
    ]);
  });

  it('are all details of the refusal, whose message is the first', () => {
    const conflicts = conflictsInPreview(preview);
    expect(conflictRefusal(conflicts)).toMatchObject({
      kind: 'ConflictError',
      message: 'Archived',
      details: conflicts,
    });
  });
});
