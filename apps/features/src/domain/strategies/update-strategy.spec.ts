import { expect, it } from '@jest/globals';
import type { UpdateStrategyBody } from '@bunting/contracts';
import { aFeature, aStrategy, someProjectContext } from '../../../test/builders.ts';
import { strategyOf } from './strategy.ts';
import { updateStrategy } from './update-strategy.ts';

const at = { environment: 'development', strategyId: 'one' };
const variants = [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' } as const];
const before = aStrategy({
  id: 'one',
  name: 'flexibleRollout',
  title: 'Half',
  sortOrder: 3,
  segments: [1],
  variants,
  parameters: { rollout: '50', stickiness: 'userId', groupId: 'mine' },
});
const feature = aFeature({ strategies: [before], enabled: true });
const updated = (update: UpdateStrategyBody) =>
  strategyOf(updateStrategy(feature, at, update, someProjectContext()).feature, at);

it('an update empties omitted lists and keeps other omitted properties', () => {
  expect(updated({})).toEqual({ ...before, variants: [] });
  expect(updated({ title: 'All', disabled: true })).toMatchObject({ title: 'All', disabled: true, segments: [1] });
});

it('an update treats null as omitted, and ignores the sort order', () => {
  expect(updated({ title: null, disabled: null, sortOrder: 0, variants })).toEqual(before);
});

it('an update completes the parameters of a gradual rollout, and keeps its percentage', () => {
  expect(updated({ parameters: { stickiness: 'sessionId' } }).parameters).toEqual({
    rollout: '50',
    stickiness: 'sessionId',
    groupId: 'checkout',
  });
});

it('an update keeps the parameters of other strategy types', () => {
  expect(updated({ name: 'default' })).toMatchObject({ name: 'default', parameters: before.parameters });
});

it('an update of the last active strategy emits that the feature is off', () => {
  const { events } = updateStrategy(feature, at, { disabled: true }, someProjectContext());
  expect(events.map(({ type }) => type)).toEqual(['feature-strategy-update', 'feature-environment-disabled']);
  expect(updateStrategy(feature, at, { variants }, someProjectContext()).events).toEqual([]);
});
