import { expect, it } from 'vitest';
import { aFeature } from '../../test/builders.ts';
import { completeFeature, uncompleteFeature } from './lifecycle.ts';

const [first, second, third] = ['2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z', '2026-02-03T00:00:00.000Z'];

it('a completed feature keeps the time and the stage of its first completion', () => {
  const kept = completeFeature(aFeature(), { status: 'kept' }, first).feature;
  const seen = { ...kept, lifecycle: [...kept.lifecycle, { stage: 'live', enteredStageAt: second } as const] };
  const { feature, events } = completeFeature(seen, { status: 'discarded', statusValue: 'red' }, third);
  expect(feature.lifecycle.map(({ stage, enteredStageAt }) => [stage, enteredStageAt])).toEqual([
    ['initial', '2026-01-01T00:00:00.000Z'],
    ['completed', first],
    ['live', second],
  ]);
  expect(events).toMatchObject([{ data: { status: 'discarded', statusValue: 'red', kept: false } }]);
});

it('completing a completed feature emits nothing', () => {
  const { feature } = completeFeature(aFeature(), { status: 'kept' }, first);
  expect(completeFeature(feature, { status: 'kept' }, second)).toEqual({ feature, events: [] });
  const again = uncompleteFeature(feature).feature;
  expect(again).toEqual(aFeature());
  expect(uncompleteFeature(again)).toEqual({ feature: again, events: [] });
});
