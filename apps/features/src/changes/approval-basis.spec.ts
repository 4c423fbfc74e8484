import type { StrategyProperties } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { someProjectContext } from '../../test/builders.ts';
import { aChangeContext, inProduction, onCheckout, type Posted } from '../../test/checked-changes.ts';
import { approvalBasis } from './approval-basis.ts';
import { applyInMemory } from './apply-in-memory.ts';

const bare = inProduction({ strategies: [] });
const half: StrategyProperties = {
  name: 'flexibleRollout',
  parameters: { rollout: '50', stickiness: 'default', groupId: 'checkout' },
};
const everybody: StrategyProperties = { name: 'default', parameters: {} };

/** The basis in a project with a default strategy, and with segments by id, each with the hash of its constraints. */
const basisOf = (
  posted: readonly Posted[],
  { strategy = half, segments = { 2: 'one', 4: 'two' }, feature = bare } = {},
) => {
  const context = aChangeContext([feature], {
    projectContext: someProjectContext({
      defaultStrategies: { production: { ...strategy, constraints: [] } },
      segments: new Map(
        Object.entries(segments).map(([id, definition]) => [
          Number(id),
          { id: Number(id), name: `segment-${id}`, project: null, definition },
        ]),
      ),
    }),
  });
  const changes = parseChanges(posted).map((change, index) => ({ id: index + 1, change, snapshot: null }));
  return approvalBasis(context, applyInMemory(changes, context));
};

const enable = onCheckout('updateEnabled', { enabled: true });
const addWithSegment = onCheckout('addStrategy', { ...everybody, constraints: [], segments: [4] });

describe('the basis of an approval', () => {
  it('is the same each time', () => {
    expect(basisOf([enable, addWithSegment])).toBe(basisOf([enable, addWithSegment]));
  });

  it('changes with the default strategy that turning a feature on adds', () => {
    expect(basisOf([enable], { strategy: everybody })).not.toBe(basisOf([enable]));
  });

  it('changes when the feature gets or loses the strategy without which it would get the default one', () => {
    expect(basisOf([enable], { feature: inProduction() })).not.toBe(basisOf([enable]));
  });

  it('does not change with a default strategy that the changes do not add', () => {
    expect(basisOf([addWithSegment], { strategy: everybody })).toBe(basisOf([addWithSegment]));
    const withOwn = { feature: inProduction() };
    expect(basisOf([enable], { ...withOwn, strategy: everybody })).toBe(basisOf([enable], withOwn));
  });

  it('changes with the constraints of a segment that a strategy begins to use, and of no other', () => {
    expect(basisOf([addWithSegment], { segments: { 2: 'one', 4: 'edited' } })).not.toBe(basisOf([addWithSegment]));
    expect(basisOf([addWithSegment], { segments: { 2: 'edited', 4: 'two' } })).toBe(basisOf([addWithSegment]));
  });

  it('does not change with a segment that the feature uses already, which needs approvals itself', () => {
    const retitle = onCheckout('updateStrategy', { id: 's1', title: 'Half of all' });
    const feature = inProduction();
    expect(basisOf([retitle], { feature, segments: { 2: 'edited', 4: 'edited' } })).toBe(
      basisOf([retitle], { feature }),
    );
  });
});
