import { describe, expect, it } from 'vitest';
import { type Constraint, constraintOperators } from './constraints.ts';
import type { FeatureStrategy } from './strategies.ts';
import { constraintPhrase, reachesEverybody, strategySentence } from './strategy-sentence.ts';

const segments = new Map([
  [1, 'beta testers'],
  [2, 'staff'],
]);
function rollout(percentage: string, more: object = {}): FeatureStrategy {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: percentage, stickiness: 'default', groupId: 'checkout' },
    ...more,
  };
}
function country(...values: string[]): Constraint {
  return { contextName: 'country', operator: 'IN', values };
}

describe('the sentence of a strategy', () => {
  it.each<[string, FeatureStrategy]>([
    ['Everybody', rollout('100')],
    ['Everybody', { name: 'default' }],
    ['No user', rollout('0')],
    ['25 % of users', rollout('25')],
    ['25 % of users, by userId', rollout('25', { parameters: { rollout: '25', stickiness: 'userId' } })],
    [
      '25 % of users, chosen at random for each evaluation',
      rollout('25', { parameters: { rollout: '25', stickiness: 'random' } }),
    ],
    ['Everybody where country is no', rollout('100', { constraints: [country('no')] })],
    ['Everybody where country is no or se', rollout('100', { constraints: [country('no', 'se')] })],
    ['Everybody where country is a, b, c or 2 more', rollout('100', { constraints: [country(...'abcde')] })],
    ['10 % of users in beta testers and staff', rollout('10', { segments: [1, 2] })],
    ['Everybody in segment 7', rollout('100', { segments: [7] })],
    [
      '5 % of users in staff where country is no and plan is not free, by sessionId',
      rollout('5', {
        parameters: { rollout: '5', stickiness: 'sessionId' },
        segments: [2],
        constraints: [country('no'), { contextName: 'plan', operator: 'NOT_IN', values: ['free'] }],
      }),
    ],
    ['Users with the id ann or bob', { name: 'userWithId', parameters: { userIds: 'ann, bob,' } }],
    ['Users with the id (none)', { name: 'userWithId', parameters: {} }],
    ['Users at the address 10.0.0.0/8', { name: 'remoteAddress', parameters: { IPs: '10.0.0.0/8' } }],
    ['30 % of users, by sessionId', { name: 'gradualRolloutSessionId', parameters: { percentage: '30' } }],
    ['Users for whom the application’s own strategy byMoon is on', { name: 'byMoon', parameters: { phase: 'full' } }],
    [
      'Everybody, split into red (33.3 %) and blue (66.7 %)',
      rollout('100', {
        variants: [
          { name: 'red', weight: 333, weightType: 'variable', stickiness: 'default' },
          { name: 'blue', weight: 667, weightType: 'variable', stickiness: 'default' },
        ],
      }),
    ],
  ])('says in words whom the strategy reaches: “%s”', (sentence, strategy) => {
    expect(strategySentence(strategy, segments)).toBe(sentence);
  });

  it('says of every operator what its inversion does not say', () => {
    for (const operator of constraintOperators) {
      const constraint: Constraint = { contextName: 'field', operator, value: '1', values: ['1'] };
      const plain = constraintPhrase(constraint);
      expect(plain).toMatch(/^field \S/);
      expect(constraintPhrase({ ...constraint, inverted: true })).not.toBe(plain);
    }
  });

  it('says that a list is empty, in which nothing can be', () => {
    expect(constraintPhrase({ contextName: 'userId', operator: 'IN', values: [] })).toBe(
      'userId is anything in an empty list',
    );
  });

  it('shows an operator that the console does not know as it is', () => {
    expect(constraintPhrase({ contextName: 'name', operator: 'SOUNDS_LIKE' as never, value: 'x' })).toBe(
      'name SOUNDS_LIKE x',
    );
  });
});

describe('a strategy', () => {
  it.each<[boolean, FeatureStrategy]>([
    [true, rollout('100')],
    [true, { name: 'default' }],
    [false, rollout('99')],
    [false, rollout('100', { constraints: [country('no')] })],
    [false, rollout('100', { segments: [1] })],
    [false, rollout('100', { disabled: true })],
    [false, { name: 'userWithId', parameters: { userIds: 'ann' } }],
    [false, { name: 'byMoon' }],
  ])('counts as reaching everybody only without any restriction: %s', (everybody, strategy) => {
    expect(reachesEverybody(strategy)).toBe(everybody);
  });
});
