import { expect, it } from '@jest/globals';
import type { UpdateStrategyBody } from '@bunting/contracts';
import { aFeature, aStrategy, someProjectContext } from '../../../test/builders.ts';
import { strategyOf } from './strategy.ts';
import { updateStrategy } from './update-strategy.ts';

const at = { environment: 'development', strategyId: 'one' };
const variants = [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' } as const];
const before = aStrategy({
  ...{ id: 'one', name: 'flexibleRollout', title: 'Half', sortOrder: 3, segments: [1], variants },
  parameters: { rollout: '50', stickiness: 'userId', groupId: 'mine' },
});
const feature = aFeature({ strategies: [before], enabled: true });
const updated = (update: UpdateStrategyBody) =>
  strategyOf(updateStrategy(feature, at, update, someProjectContext()).feature, at);

it('empties the lists that it does not mention, and keeps the rest', () => {
  expect(updated({})).toEqual({ ...before, variants: [] });
  expect(updated({ title: 'All', disabled: true })).toMatchObject({ title: 'All', disabled: true, segments: [1] });
});

it('takes null for silence, and no place from an update', () => {
  expect(updated({ title: null, disabled: null, sortOrder: 0, variants })).toEqual(before);
});

it('completes the settings of a gradual rollout, which keeps its share', () => {
  expect(updated({ parameters: { stickiness: 'sessionId' } }).parameters).toEqual({
    ...{ rollout: '50', stickiness: 'sessionId', groupId: 'checkout' },
  });
});

it('keeps the settings of a strategy of another type', () => {
  expect(updated({ name: 'default' })).toMatchObject({ name: 'default', parameters: before.parameters });
});

it('tells that the feature went off with its last active strategy', () => {
  const { events } = updateStrategy(feature, at, { disabled: true }, someProjectContext());
  expect(events.map(({ type }) => type)).toEqual(['feature-strategy-update', 'feature-environment-disabled']);
  expect(updateStrategy(feature, at, { variants }, someProjectContext()).events).toEqual([]);
});
