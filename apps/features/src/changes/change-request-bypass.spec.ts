import { expect, it } from 'vitest';
import type { DomainEvent } from '../features/feature.ts';
import { type EditedObject, markBypass } from './protected-edit.ts';

const enabled: DomainEvent = {
  type: 'feature-environment-enabled',
  project: 'shop',
  featureName: 'checkout',
  environment: 'production',
};
const feature: EditedObject = { kind: 'feature', name: 'checkout' };
const segment: EditedObject = { kind: 'segment', id: 4 };
const environmentsOfShop: EditedObject = { kind: 'environments-of-project', project: 'shop' };
const isMarked = (event: DomainEvent, edited: EditedObject): boolean =>
  markBypass(event, [{ edited, environments: ['production'] }]) !== event;

it('marks an event of a bypassed change request and keeps its data', () => {
  const event = { ...enabled, data: { reason: 'incident' } };
  expect(markBypass(event, [{ edited: feature, environments: ['production'] }])).toEqual({
    ...enabled,
    data: { reason: 'incident', bypassedChangeRequest: true },
  });
});

it.each<[string, DomainEvent, EditedObject]>([
  ['of the feature in a protected environment', enabled, feature],
  ['of the feature without an environment', { type: 'feature-archived', featureName: 'checkout' }, feature],
  ['of a segment that changes', { type: 'segment-updated', data: { id: 4 }, preData: { id: 4 } }, segment],
  ['of a segment that is deleted', { type: 'segment-deleted', preData: { id: 4 } }, segment],
  [
    'of an environment that the project loses',
    { type: 'project-environment-removed', project: 'shop', environment: 'production' },
    environmentsOfShop,
  ],
])('marks an event %s', (_, event, edited) => {
  expect(isMarked(event, edited)).toBe(true);
});

it.each<[string, DomainEvent, EditedObject]>([
  ['of another feature', { ...enabled, featureName: 'basket' }, feature],
  ['in an environment that is not protected', { ...enabled, environment: 'development' }, feature],
  ['of another segment', { type: 'segment-updated', data: { id: 5 } }, segment],
  ['of another object with the same id', { type: 'project-updated', data: { id: 4 } }, segment],
  [
    'of another project',
    { type: 'project-environment-removed', project: 'garage', environment: 'production' },
    environmentsOfShop,
  ],
  ['of another kind in the project', { type: 'project-updated', project: 'shop' }, environmentsOfShop],
])('does not mark an event %s', (_, event, edited) => {
  expect(isMarked(event, edited)).toBe(false);
});
