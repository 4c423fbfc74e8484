import { describe, expect, it } from 'vitest';
import type { UpdateStrategyBody } from '@bunting/contracts';
import { aFeature, aStrategy, someProjectContext } from '../../test/builders.ts';
import { strategyOf } from './strategy.ts';
import { updateStrategy } from './edit-strategy.ts';

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

describe('an update keeps the parameters that it leaves out', () => {
  it.each([
    ['one parameter', { rollout: '70' }, { rollout: '70' }],
    ['another parameter', { stickiness: 'sessionId' }, { stickiness: 'sessionId' }],
    ['no parameter', {}, {}],
    ['empty texts, which are no values', { stickiness: '', groupId: '' }, {}],
    ['a parameter that the strategy does not have', { more: '1' }, { more: '1' }],
  ])('with %s', (_, parameters, changed) => {
    expect(updated({ parameters }).parameters).toEqual({ ...before.parameters, ...changed });
  });

  it('of any strategy type', () => {
    const custom = aStrategy({ id: 'one', name: 'custom', parameters: { a: '1', b: '2' } });
    const context = someProjectContext({ strategyTypes: new Map([['custom', { deprecated: false }]]) });
    const { feature: after } = updateStrategy(
      aFeature({ strategies: [custom] }),
      at,
      { parameters: { a: '3' } },
      context,
    );
    expect(strategyOf(after, at).parameters).toEqual({ a: '3', b: '2' });
  });

  it('unless the type of the strategy changes', () => {
    expect(updated({ name: 'default' })).toMatchObject({ name: 'default', parameters: before.parameters });
    expect(updated({ name: 'remoteAddress', parameters: { IPs: '::1' } }).parameters).toEqual({ IPs: '::1' });
  });
});

it('an update of the last active strategy emits that the feature is off', () => {
  const { events } = updateStrategy(feature, at, { disabled: true }, someProjectContext());
  expect(events.map(({ type }) => type)).toEqual(['feature-strategy-update', 'feature-environment-disabled']);
  expect(updateStrategy(feature, at, { variants }, someProjectContext()).events).toEqual([]);
});
