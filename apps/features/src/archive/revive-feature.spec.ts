import { expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { reviveFeature } from './archive.ts';

const now = '2026-02-01T00:00:00.000Z';
const archivedAt = '2026-01-15T00:00:00.000Z';

it('a revived feature has its strategies, is off everywhere and starts its lifecycle again', () => {
  const strategies = [aStrategy()];
  const archived = aFeature({ archivedAt, enabled: true, strategies });
  const { feature, events } = reviveFeature(
    { ...archived, lifecycle: [{ stage: 'archived', enteredStageAt: archivedAt }] },
    now,
  );
  expect(feature).toMatchObject({
    archivedAt: null,
    environments: { development: { enabled: false, strategies } },
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
  });
  expect(events).toMatchObject([{ type: 'feature-revived' }]);
});

it('reviving an active feature changes nothing', () => {
  const active = aFeature();
  expect(reviveFeature(active, now)).toEqual({ feature: active, events: [] });
});
