import { expect, it } from 'vitest';
import { setLifetime } from './edit-feature.ts';

const release = { id: 'release', name: 'Release', description: 'gates a release', lifetimeDays: 40 };

it('a type of features gets another lifetime with an event', () => {
  const type = { ...release, lifetimeDays: 7 };
  const events = [{ type: 'feature-type-updated', data: type, preData: release }];
  expect(setLifetime(release, 7)).toEqual({ type, events });
  expect(setLifetime(release, 40)).toEqual({ type: release, events: [] });
});

it('a lifetime of zero days means that features of the type do not become stale', () => {
  expect(setLifetime(release, 0).type.lifetimeDays).toBeNull();
  expect(setLifetime({ ...release, lifetimeDays: null }, 0).events).toEqual([]);
});
