import { expect, it } from 'vitest';
import { aFeature, aStrategy, someProjectContext } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { featuresAddedByMove, type MoveContext, moveFeature } from './edit-feature.ts';

const here = someProjectContext({
  segments: new Map([
    [1, { id: 1, name: 'everywhere', project: null }],
    [2, { id: 2, name: 'customers', project: 'shop' }],
  ]),
});
const move: MoveContext = { to: 'garage', source: here, target: someProjectContext(), children: [] };
const using = (...segments: number[]) => aFeature({ strategies: [aStrategy({ segments })] });

it('a feature moves with its strategies and global segments', () => {
  const feature = using(1);
  expect(moveFeature(feature, move)).toMatchObject({
    feature: { ...feature, project: 'garage' },
    events: [{ type: 'feature-project-change', project: 'garage' }],
  });
});

it('a feature with a segment of its project cannot move', () => {
  expect(refusalOf(() => moveFeature(using(1, 2), move)).kind).toBe('IncompatibleProjectError');
});

it('a feature cannot move to a project with other environments', () => {
  const [development, production] = here.environments;
  for (const environments of [[development], [development, { ...production, name: 'staging' }], []]) {
    const target = { ...here, environments: environments as typeof here.environments };
    expect(refusalOf(() => moveFeature(aFeature(), { ...move, target })).kind).toBe('IncompatibleProjectError');
  }
});

it('a feature with children cannot move', () => {
  expect(refusalOf(() => moveFeature(aFeature(), { ...move, children: ['child'] })).kind).toBe('ForbiddenError');
});

it('a move to the same project changes nothing', () => {
  const feature = aFeature();
  expect(moveFeature(feature, { ...move, to: 'shop' })).toEqual({ feature, events: [] });
});

it('a move counts towards the limit of the target, unless the feature is archived or stays in its project', () => {
  const [active, archived] = [aFeature(), aFeature({ archivedAt: '2026-01-02T00:00:00.000Z' })];
  const added = [active, archived].map((feature) =>
    ['garage', 'shop'].map((project) => featuresAddedByMove(feature, { ...feature, project })),
  );
  expect(added).toEqual([
    [1, 0],
    [0, 0],
  ]);
});
