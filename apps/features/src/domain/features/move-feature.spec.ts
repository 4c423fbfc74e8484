import { expect, it } from '@jest/globals';
import { aFeature, aStrategy, someProjectContext } from '../../../test/builders.ts';
import { refusalOf } from '../../../test/refusal-of.ts';
import { type Move, moveFeature } from './move-feature.ts';

const here = someProjectContext({
  segments: new Map([
    [1, { id: 1, name: 'everybody', project: null }],
    [2, { id: 2, name: 'customers', project: 'shop' }],
  ]),
});
const move: Move = { to: 'garage', source: here, target: someProjectContext(), children: [] };
const using = (...segments: number[]) => aFeature({ strategies: [aStrategy({ segments })] });

it('takes a feature along with its strategies and the segments that every project may use', () => {
  const feature = using(1);
  expect(moveFeature(feature, move)).toMatchObject({
    feature: { ...feature, project: 'garage' },
    events: [{ type: 'feature-project-change', project: 'garage' }],
  });
});

it('refuses a feature that uses a segment of its project', () => {
  expect(refusalOf(() => moveFeature(using(1, 2), move)).kind).toBe('IncompatibleProjectError');
});

it('refuses a target with fewer, more or other environments', () => {
  const [development, production] = here.environments;
  for (const environments of [[development], [development, { ...production, name: 'staging' }], []]) {
    const target = { ...here, environments: environments as typeof here.environments };
    expect(refusalOf(() => moveFeature(aFeature(), { ...move, target })).kind).toBe('IncompatibleProjectError');
  }
});

it('refuses a feature that others depend on', () => {
  expect(refusalOf(() => moveFeature(aFeature(), { ...move, children: ['child'] })).kind).toBe('ForbiddenError');
});

it('changes nothing when the feature is there already', () => {
  const feature = aFeature();
  expect(moveFeature(feature, { ...move, to: 'shop' })).toEqual({ feature, events: [] });
});
