import { expect, it } from 'vitest';
import { aFeature, aSegment, aStrategy, someProjectContext } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { fixedResourceLimits } from '../names.ts';
import { setStrategySegments } from './segment.ts';
import { strategyOf } from '../strategies/strategy.ts';

const ref = { environment: 'development', strategyId: 'one' };
const before = aStrategy({ id: 'one', title: 'Half', segments: [1] });
const other = aStrategy({ id: 'two', segments: [1], sortOrder: 1 });
const feature = aFeature({ strategies: [before, other] });
const segments = [
  aSegment({ id: 1 }),
  aSegment({ id: 2, name: 'ours', project: 'shop' }),
  aSegment({ id: 3, name: 'theirs', project: 'garage' }),
];
const projectContext = someProjectContext({ segments: new Map(segments.map((segment) => [segment.id, segment])) });
const set = (wanted: readonly number[]) => setStrategySegments(feature, ref, wanted, projectContext);

it('the segments of a strategy are replaced; its other properties and other strategies stay', () => {
  const { feature: after } = set([2]);
  expect(strategyOf(after, ref)).toEqual({ ...before, segments: [2] });
  expect(strategyOf(after, { ...ref, strategyId: 'two' })).toEqual(other);
});

it('replaced segments are an update of the strategy in its environment', () => {
  expect(set([2, 1]).events).toMatchObject([
    {
      type: 'feature-strategy-update',
      environment: 'development',
      preData: { id: 'one', segments: [1] },
      data: { id: 'one', title: 'Half', segments: [2, 1] },
    },
  ]);
});

it('a segment that is named twice is used once', () => {
  expect(strategyOf(set([2, 2]).feature, ref).segments).toEqual([2]);
});

it('the same segments change and emit nothing', () => {
  expect(set([1])).toEqual({ feature, events: [] });
});

it.each<[string, readonly number[], object]>([
  ['that does not exist', [1, 9], { kind: 'NotFoundError', message: 'No segment exists with ID "9"' }],
  ['of another project', [1, 3], { details: [{ path: '/body/segmentIds/1' }] }],
])('a segment %s is refused', (_, wanted, expected) => {
  expect(refusalOf(() => set(wanted))).toMatchObject(expected);
});

it('more segments than a strategy may have are refused', () => {
  const tooMany = Array.from({ length: fixedResourceLimits.segmentsPerStrategy + 1 }, (_, index) => index);
  expect(refusalOf(() => set(tooMany))).toMatchObject({ details: [{ path: '/body/segmentIds' }] });
});

it('the segments of a strategy in another environment are not found', () => {
  const elsewhere = { environment: 'production', strategyId: 'one' };
  expect(refusalOf(() => setStrategySegments(feature, elsewhere, [2], projectContext)).kind).toBe('NotFoundError');
});
