import type { StrategyVariant } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import {
  localTime,
  operatorsFor,
  operatorsOfSignals,
  parseExampleUsers,
  valuesOfText,
  withEqualWeights,
  withWeight,
} from './strategy-inputs.ts';

describe('the values of a constraint', () => {
  it.each([
    ['ann\nbob', ['ann', 'bob']],
    ['ann, bob ,ann', ['ann', 'bob']],
    ['ann\tbob\r\ncarl', ['ann', 'bob', 'carl']],
    ['Oslo, Norway\nMalmö, Sweden', ['Oslo, Norway', 'Malmö, Sweden']],
    ['', []],
  ])('are read from a text with one in each line or between commas: “%s”', (text, values) => {
    expect(valuesOfText(text)).toEqual(values);
  });

  it('keep the empty line that is being typed', () => {
    expect(valuesOfText('ann\n')).toEqual(['ann', '']);
  });
});

describe('the operators of a context field', () => {
  it('are times for the current time, and begin with “is” for others', () => {
    expect(operatorsFor('currentTime', true)).toEqual(['DATE_AFTER', 'DATE_BEFORE']);
    expect(operatorsFor('country', false)[0]).toBe('IN');
    expect(operatorsFor('country', false)).not.toContain('REGEX');
    expect(operatorsFor('country', true)).toContain('REGEX');
  });

  it('are no times for a field of which some SDKs would compare the current time instead', () => {
    for (const field of ['signedUpAt', '']) expect(operatorsFor(field, true)).not.toContain('DATE_AFTER');
    expect(operatorsOfSignals).toContain('DATE_AFTER');
  });
});

it('shows a time in the zone of the reader, and none for what is no time', () => {
  const shown = localTime('2026-11-22T10:30:00.000Z');
  expect(new Date(shown).toISOString()).toBe('2026-11-22T10:30:00.000Z');
  expect(localTime('soon')).toBe('');
});

function variant(name: string, weight = 0, weightType: StrategyVariant['weightType'] = 'variable'): StrategyVariant {
  return {
    name,
    weight,
    weightType,
    stickiness: 'default',
  };
}
function weights(variants: readonly StrategyVariant[]): number[] {
  return variants.map(({ weight }) => weight);
}

describe('the weights of variants', () => {
  it('are equal, and make 1000 together', () => {
    expect(weights(withEqualWeights([variant('a'), variant('b'), variant('c')]))).toEqual([334, 333, 333]);
    expect(withEqualWeights([])).toEqual([]);
  });

  it('leave the others what a fixed one does not take', () => {
    const changed = withWeight([variant('a', 500), variant('b', 250), variant('c', 250)], 1, 100);
    expect(weights(changed)).toEqual([450, 100, 450]);
    expect(changed[1]?.weightType).toBe('fix');
  });

  it('always leave one variant that takes the rest', () => {
    const both = withWeight(withWeight([variant('a', 500), variant('b', 500)], 0, 300), 1, 200);
    expect(weights(both)).toEqual([800, 200]);
    expect(both.map(({ weightType }) => weightType)).toEqual(['variable', 'fix']);
  });

  it.each([Number.NaN, -5, 2_000])('stay within 0 and 1000 for %s', (weight) => {
    for (const one of weights(withWeight([variant('a', 500), variant('b', 500)], 0, weight))) {
      expect(one).toBeGreaterThanOrEqual(0);
      expect(one).toBeLessThanOrEqual(1_000);
    }
  });
});

it('reads example users from lines of names and values', () => {
  expect(parseExampleUsers('userId=ann country=no, plan="pro plus"\n\n  bob@example.com \n')).toEqual([
    { text: 'userId=ann country=no, plan="pro plus"', context: { userId: 'ann', country: 'no', plan: 'pro plus' } },
    { text: 'bob@example.com', context: { userId: 'bob@example.com' } },
  ]);
});

it('reads at most the twenty example users that one request may have', () => {
  expect(parseExampleUsers(Array.from({ length: 50 }, (_, nth) => `user-${nth}`).join('\n'))).toHaveLength(20);
});
