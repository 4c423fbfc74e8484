import type { OutboxEvent } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { deletedProjectsIn, deletedUserIdsIn, editedObjectsIn } from './consumed-events.ts';

function anEvent(type: OutboxEvent['type'], event: Partial<OutboxEvent> = {}) {
  return {
    type,
    project: 'shop',
    featureName: null,
    data: null,
    preData: null,
    ...event,
  };
}
const none = { features: [], segments: [], projects: [], isGlobal: false };

describe('schedules are checked for conflicts', () => {
  it.each([
    [
      'an edit of a feature',
      anEvent('feature-strategy-update', { featureName: 'checkout' }),
      { features: ['checkout'] },
    ],
    ['an edit of a segment', anEvent('segment-updated', { data: { id: 4 }, preData: { id: 4 } }), { segments: [4] }],
    ['the creation of a segment', anEvent('segment-created', { data: { id: 4 } }), { segments: [4] }],
    ['the deletion of a segment', anEvent('segment-deleted', { preData: { id: 4 } }), { segments: [4] }],
    ['the removal of an environment', anEvent('project-environment-removed'), { projects: ['shop'] }],
    ['the archiving of a project', anEvent('project-archived'), { projects: ['shop'] }],
    ['the deletion of a project', anEvent('project-deleted'), { projects: ['shop'] }],
    [
      'a new dependency, of the feature and of its parent',
      anEvent('feature-dependency-added', { featureName: 'checkout', data: { feature: 'banner', enabled: true } }),
      { features: ['checkout', 'banner'] },
    ],
    [
      'the removal of a dependency, of the feature and of its parent',
      anEvent('feature-dependency-removed', { featureName: 'checkout', data: { feature: 'banner' } }),
      { features: ['checkout', 'banner'] },
    ],
    [
      'a new strategy, of its segments',
      anEvent('feature-strategy-add', { featureName: 'checkout', data: { id: 's', name: 'default', segments: [4] } }),
      { features: ['checkout'], segments: [4] },
    ],
    [
      'another order of strategies',
      anEvent('strategy-order-changed', { featureName: 'checkout' }),
      { features: ['checkout'] },
    ],
    ['an edit of a strategy type', anEvent('strategy-updated', { data: { name: 'ours' } }), { isGlobal: true }],
    ['the deletion of a strategy type', anEvent('strategy-deleted', { data: { name: 'ours' } }), { isGlobal: true }],
    ['the deprecation of a strategy type', anEvent('strategy-deprecated', { data: {} }), { isGlobal: true }],
    ['an edit of a context field', anEvent('context-field-updated', { data: {}, preData: {} }), { isGlobal: true }],
    ['the deletion of a context field', anEvent('context-field-deleted', { preData: {} }), { isGlobal: true }],
    ['the deletion of an environment', anEvent('environment-deleted', { preData: {} }), { isGlobal: true }],
    [
      'an event of a type that only a newer server knows, of the feature that it names',
      anEvent('feature-renamed' as 'feature-updated', { featureName: 'checkout', data: { segments: [4] } }),
      { features: ['checkout'], segments: [4] },
    ],
  ])('after %s', (_edit, event, edited) => {
    expect(editedObjectsIn([event, event])).toEqual({ ...none, ...edited });
  });

  it.each([
    'feature-created',
    'feature-tagged',
    'feature-untagged',
    'feature-favorited',
    'feature-unfavorited',
  ] as const)('not after %s', (type) => {
    expect(editedObjectsIn([anEvent(type, { featureName: 'checkout' })])).toEqual(none);
  });

  it.each(['project-updated', 'environment-updated', 'strategy-created', 'tag-created', 'features-imported'] as const)(
    'not after %s, which names no feature',
    (type) => {
      expect(editedObjectsIn([anEvent(type, { data: { id: 4, name: 'checkout' } })])).toEqual(none);
    },
  );
});

it('the requests of a project end with it, and not when it is archived', () => {
  const recordedAt = '2026-11-21T12:00:00.000Z';
  const messages = (['project-archived', 'project-deleted', 'feature-deleted'] as const).map((type) => ({
    payload: anEvent(type),
    recordedAt,
  }));
  expect(deletedProjectsIn(messages)).toEqual([{ id: 'shop', at: recordedAt }]);
});

describe('users are removed from change requests', () => {
  it.each(['user-deleted', 'service-account-deleted'] as const)('after %s', (type) => {
    expect(deletedUserIdsIn([anEvent(type, { preData: { id: 7 } }), anEvent(type, { preData: { id: 8 } })])).toEqual([
      7, 8,
    ]);
  });

  it('not after any other event of users', () => {
    expect(deletedUserIdsIn([anEvent('user-updated', { data: { id: 7 }, preData: { id: 7 } })])).toEqual([]);
  });
});
