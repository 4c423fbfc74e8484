import { describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { Refusal } from './errors.ts';
import { Constraint } from './strategies/constraints.ts';
import { FeatureStrategy } from './strategies/strategies.ts';
import { FeatureVariant } from './features/variants.ts';
import { matchesSchema, parse, parseChanges } from './validation.ts';
import { lenientSchema } from './lenient-schema.ts';

const request = lenientSchema(FeatureStrategy);
const parametersOf = (parameters: object) => parse(request, { name: 'default', parameters }, '/body').parameters;
const faultOf = (act: () => unknown): string | undefined => {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error.details[0]?.path;
    throw error;
  }
  return undefined;
};

describe('a request', () => {
  it.each([
    [50, '50'],
    [-0.5, '-0.5'],
    [9_007_199_254_740_991, '9007199254740991'],
    [true, 'true'],
    [false, 'false'],
    ['50', '50'],
    ['', ''],
  ])('may contain %j in place of text, which becomes %j', (sent, text) => {
    expect(parametersOf({ rollout: sent })).toEqual({ rollout: text });
  });

  it.each([[null], [{}], [[1]], [9_007_199_254_740_992], [-1e300]])(
    'may not contain %j in place of text, because digits are lost',
    (sent) => {
      expect(faultOf(() => parametersOf({ rollout: sent }))).toBe('/body/parameters/rollout');
    },
  );

  it('may contain the operands of constraints as numbers', () => {
    const constraint = { contextName: 'userId', operator: 'NUM_EQ', value: 5, values: [1, 'two', true] };
    expect(parse(lenientSchema(Constraint), constraint)).toMatchObject({ value: '5', values: ['1', 'two', 'true'] });
  });

  it.each([
    ['1000', 1000],
    ['0', 0],
    [250, 250],
  ])('may contain the weight %j, which becomes %j', (weight, number) => {
    const variant = { name: 'a', weight, payload: { type: 'number', value: 7 } };
    expect(parse(lenientSchema(FeatureVariant), variant)).toMatchObject({ weight: number, payload: { value: '7' } });
  });

  it.each(['', ' 5', '5.0', '1e3', '0x10', '-1', '1001', '99999', 'many', true, null])(
    'may not contain the weight %j',
    (weight) => {
      expect(faultOf(() => parse(lenientSchema(FeatureVariant), { name: 'a', weight }, '/body'))).toBe('/body/weight');
    },
  );

  it('may contain such values in the payload of a change as well', () => {
    const payload = { name: 'flexibleRollout', constraints: [], parameters: { rollout: 50 } };
    expect(parseChanges({ action: 'addStrategy', feature: 'checkout', payload })).toMatchObject([
      { payload: { parameters: { rollout: '50' } } },
    ]);
  });

  it('has a lenient schema that is its own lenient schema', () => {
    expect(lenientSchema(Type.Array(request)).items).toBe(request);
    expect(lenientSchema(request)).toBe(request);
  });

  it('has the identical schema where nothing in it is lenient', () => {
    const schema = Type.Object({ name: Type.String() });
    expect(lenientSchema(schema)).toBe(schema);
  });
});

it('a response contains text and numbers as declared, without the other types that a request may have', () => {
  expect(matchesSchema(FeatureStrategy, { name: 'default', parameters: { rollout: 50 } })).toBe(false);
  expect(matchesSchema(FeatureVariant, { name: 'a', weight: '1000' })).toBe(false);
});
