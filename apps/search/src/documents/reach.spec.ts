import type { ReachRule } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { stateInEnvironment } from '../../test/builders.ts';
import { reachOf } from './reach.ts';

describe('whom a feature reaches in an environment', () => {
  const reach = (...rules: ReachRule[]) => reachOf(stateInEnvironment('production', { enabled: true, rules }));
  const rollout = (share?: string, more: Partial<ReachRule> = {}): ReachRule => ({
    name: 'flexibleRollout',
    ...(share === undefined ? {} : { share }),
    ...more,
  });

  it.each<[string, ReachRule[], object]>([
    ['is everybody without a strategy', [], { extent: 'all', share: 100, rules: 0 }],
    ['is everybody with a rollout to all', [rollout('100')], { extent: 'all', share: 100, rules: 1 }],
    [
      'is everybody where one of several is for all',
      [rollout('5'), { name: 'default' }],
      { extent: 'all', share: 100 },
    ],
    ['is a share', [rollout('25')], { extent: 'partial', share: 25 }],
    ['is a share of an older rollout', [{ name: 'gradualRolloutUserId', share: '7.5' }], { share: 7.5 }],
    ['is nobody at 0 %', [rollout('0'), rollout('0')], { extent: 'none', rules: 2 }],
    ['is nobody without a percentage', [rollout()], { extent: 'none', share: 0 }],
    ['is nobody with a percentage that is no number', [rollout('all of them')], { extent: 'none', share: 0 }],
    [
      'is the members of segments',
      [rollout('100', { segments: [4, 2] })],
      { extent: 'partial', share: 100, audience: 'segments', segments: [4, 2] },
    ],
    [
      'is those who meet constraints',
      [rollout('50', { segments: [4], constraints: 2 })],
      { extent: 'partial', share: 50, audience: 'conditions' },
    ],
    ['is the users of a list', [{ name: 'userWithId' }], { extent: 'partial', audience: 'list' }],
    ['is whom an own strategy chooses', [{ name: 'byBranch' }], { extent: 'partial', audience: 'conditions' }],
  ])('%s', (_whom, rules, expected) => {
    expect(reach(...rules)).toMatchObject(expected);
  });

  it('is told by no single share where several strategies decide', () => {
    const several = reach(rollout('5', { variants: 2 }), { name: 'userWithId', variants: 3 });
    expect(several).toEqual({ extent: 'partial', rules: 2, variants: 3 });
  });

  it('is nobody while it is off, with what its strategies would do', () => {
    const rules = [rollout('25')];
    expect(reachOf(stateInEnvironment('production', { rules }))).toEqual({
      extent: 'off',
      rules: 1,
      share: 25,
      variants: 0,
    });
  });

  it('is unknown in states of an earlier version', () => {
    expect(reachOf(stateInEnvironment('production', { enabled: true }))).toBeUndefined();
  });
});
