import { type Constraint, type ConstraintOperator, constraintOperators, type Refusal } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { refusalOf as refusalOfJob } from '../../test/builders.ts';
import { validateConstraints } from './constraint.ts';
import { fixedResourceLimits } from '../names.ts';

const contextFields = new Map([
  ['userId', { legalValues: [] }],
  ['region', { legalValues: [{ value: 'oslo' }, { value: 'bergen' }, { value: '1.0.0' }, { value: '5' }] }],
]);

const on = (operator: ConstraintOperator, rest: Partial<Constraint> = {}): Constraint => ({
  contextName: 'userId',
  operator,
  ...rest,
});
const validated = (constraints: Constraint[], before: Constraint[] = [], allowsRegex = false) =>
  validateConstraints(constraints, { projectContext: { contextFields, allowsRegex }, before });
const refusalOf = (constraints: Constraint[], before: Constraint[] = []): Refusal =>
  refusalOfJob(() => validated(constraints, before));
const numbers = (count: number): string[] => Array.from({ length: count }, (_, nth) => String(nth));

describe('a constraint', () => {
  it('is stored with every default filled in', () => {
    expect(validated([on('IN', { values: ['1'] })])).toEqual([
      { contextName: 'userId', operator: 'IN', values: ['1'], inverted: false, caseInsensitive: false },
    ]);
  });

  it('with a single value is stored with an empty list of values as well', () => {
    expect(validated([on('NUM_GT', { value: '5', inverted: true, values: ['1'] })])).toEqual([
      { contextName: 'userId', operator: 'NUM_GT', values: [], value: '5', inverted: true, caseInsensitive: false },
    ]);
  });

  it('is stored with the operand of its operator only', () => {
    expect(validated([on('STR_CONTAINS', { values: ['a'], value: '' })])[0]).not.toHaveProperty('value');
  });

  it('is unchanged by a second normalisation', () => {
    const once = validated([on('IN', { values: ['1'] }), on('SEMVER_EQ', { value: '1.2.3' })]);
    expect(validated([...once])).toEqual(once);
  });

  it.each(constraintOperators.filter((operator) => /IN$|^STR_/.test(operator)))('with %s needs values', (operator) => {
    for (const rest of [{}, { values: [] }, { value: '1' }]) {
      const refusal = refusalOf([on('IN', { values: ['1'] }), on(operator, rest)]);
      expect(refusal.details[0]?.path).toBe('/constraints/1/values');
      expect(refusal.message).toContain('must contain at least 1 items. You provided [].');
    }
  });

  it.each<[string, string[], string]>([
    ['an empty value', ['a', ''], '/constraints/0/values/1'],
    ['a value that is too long', ['x'.repeat(101)], '/constraints/0/values/0'],
  ])('may not have %s', (_, values, path) => {
    expect(refusalOf([on('IN', { values })]).details[0]?.path).toBe(path);
    expect(() => validated([on('IN', { values: ['x'.repeat(100)] })])).not.toThrow();
  });

  it.each(constraintOperators.filter((operator) => !/IN$|^STR_/.test(operator)))(
    'with %s needs a value',
    (operator) => {
      for (const rest of [{}, { value: '' }, { values: ['1'] }]) {
        expect(refusalOf([on(operator, rest)]).details[0]?.path).toBe('/constraints/0/value');
      }
    },
  );

  it.each(['5', '-5', '+5', '5.25', '.5', '5.', '1e3', '1E-3', '0'])('compares with the number %s', (value) => {
    expect(validated([on('NUM_EQ', { value })])[0]?.value).toBe(value);
  });

  it.each(['abc', ' ', '5 ', '0x1f', 'Infinity', 'NaN', '1e999', '1,5', '--5', '5-', 'e', `${'1'.repeat(100)}1`])(
    'does not compare with the number %j',
    (value) => {
      expect(refusalOf([on('NUM_LTE', { value })]).message).toContain('`/constraints/0/value`');
    },
  );

  it('is refused with an invalid number', () => {
    expect(refusalOf([on('NUM_EQ', { value: 'abc' })]).message).toContain('must be a number. You provided "abc".');
  });

  it.each([
    '2026-11-21',
    '2024-02-29',
    '2026-11-21T10:00:00Z',
    '2026-11-21T10:00:00.123Z',
    '2026-11-21T10:00:00+02:00',
    '2026-11-21T10:00',
  ])('compares with the date %s', (value) => {
    expect(validated([on('DATE_AFTER', { value })])[0]?.value).toBe(value);
  });

  it.each([
    'zzz',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '2026-11-21T25:00:00Z',
    '21.11.2026',
    'tomorrow 1',
    '1700000000',
    '2026-11-21 10:00',
  ])('does not compare with the date %j', (value) => {
    expect(refusalOf([on('DATE_BEFORE', { value })]).message).toContain(
      `must be a valid date. You provided "${value}".`,
    );
  });

  it.each(['1.2.3', '0.0.0', '1.2.3-beta.1', '1.2.3+build', '1.2.3-rc.1+build.5'])(
    'compares with the version %s',
    (value) => {
      expect(validated([on('SEMVER_GT', { value })])[0]?.value).toBe(value);
    },
  );

  it.each([
    '1.x',
    '1.2',
    '1',
    'v1.2.3',
    '=1.2.3',
    ' 1.2.3',
    '1.2.3 ',
    '1.2.3\n',
    '01.2.3',
    '1.2.3-01',
    '^1.2.3',
    `1.2.3-${'a'.repeat(300)}`,
  ])('does not compare with the version %j', (value) => {
    expect(refusalOf([on('SEMVER_EQ', { value })]).message).toContain('`/constraints/0/value`');
  });

  it.each(['SEMVER_GTE', 'SEMVER_LTE'] as const)('%s accepts versions only', (operator) => {
    expect(validated([on(operator, { value: '1.2.3' })])[0]).toMatchObject({ operator, value: '1.2.3', values: [] });
    expect(refusalOf([on(operator, { value: '1.x' })]).message).toContain('`/constraints/0/value`');
  });

  it('is refused with an invalid version', () => {
    expect(refusalOf([on('SEMVER_EQ', { value: '1.x' })]).message).toContain(
      'the provided value is not a valid semver format. The value provided was: 1.x',
    );
  });

  it.each(['NUM_EQ', 'DATE_AFTER', 'SEMVER_EQ'] as const)(
    'with %s is refused without a comparison when it is too long',
    (operator) => {
      for (const value of ['1'.repeat(100_000), `${'1.'.repeat(50_000)}x`, `2026-11-21T${'0'.repeat(100_000)}`]) {
        const { message } = refusalOf([on(operator, { value })]);
        expect(message).toContain('must be at most 100 characters long');
        expect(message.length).toBeLessThan(500);
      }
    },
  );

  it('refers to an existing context field', () => {
    const refusal = refusalOf([on('IN', { contextName: 'planet', values: ['1'] })]);
    expect(refusal).toMatchObject({ kind: 'NotFoundError', message: 'Could not find Context field with name planet' });
    expect(refusalOf([on('IN', { contextName: '', values: ['1'] })]).details[0]?.path).toBe(
      '/constraints/0/contextName',
    );
    expect(refusalOf([on('IN', { contextName: '__proto__', values: ['1'] })]).kind).toBe('NotFoundError');
  });

  it.each<[ConstraintOperator, Partial<Constraint>, string]>([
    ['IN', { values: ['oslo', 'paris'] }, '/constraints/0/values'],
    ['STR_STARTS_WITH', { values: ['os'] }, '/constraints/0/values'],
    ['NUM_EQ', { value: '6' }, '/constraints/0/value'],
    ['SEMVER_EQ', { value: '1.0.1' }, '/constraints/0/value'],
  ])('with %s has only legal values where the field defines them', (operator, rest, path) => {
    const refusal = refusalOf([on(operator, { contextName: 'region', ...rest })]);
    expect(refusal.details[0]?.path).toBe(path);
    expect(refusal.message).toContain('specified as a legal value on this context field');
  });

  it('may have legal values', () => {
    const legal = [
      on('IN', { values: ['bergen', 'oslo'] }),
      on('NUM_EQ', { value: '5' }),
      on('SEMVER_GT', { value: '1.0.0' }),
    ];
    expect(validated(legal.map((constraint) => ({ ...constraint, contextName: 'region' })))).toHaveLength(3);
  });

  it('that is unchanged is not validated again', () => {
    const stored = [
      on('IN', { contextName: 'deleted', values: ['1'] }),
      on('IN', { contextName: 'region', values: ['paris'], inverted: false }),
    ];
    const added = on('IN', { values: ['1'] });
    const [first, second] = stored as [Constraint, Constraint];
    expect(validated([added, second, { ...first, caseInsensitive: false }], stored)).toHaveLength(3);
    expect(refusalOf([{ ...first, values: ['1', '2'] }, second], stored).kind).toBe('NotFoundError');
    expect(refusalOf([first, { ...second, inverted: true }], stored).message).toContain('legal value');
  });
});

describe('a constraint with REGEX', () => {
  const pattern = (value: string, more: Partial<Constraint> = {}): Constraint => on('REGEX', { value, ...more });
  const refusalWhereAllowed = (constraint: Constraint): Refusal =>
    refusalOfJob(() => validated([constraint], [], true));

  it('is refused with the name of the setting that allows it', () => {
    expect(refusalOf([on('IN', { values: ['1'] }), pattern('^a')])).toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining('FEATURES_ALLOW_REGEX'),
      details: [{ path: '/constraints/1/operator' }],
    });
  });

  it('may stay as it is after the operator was turned off, and may not change', () => {
    const stored = validated([pattern('^a')], [], true);
    expect(validated([...stored], [...stored])).toEqual(stored);
    expect(refusalOf([pattern('^b')], [...stored]).message).toContain('FEATURES_ALLOW_REGEX');
  });

  it('is stored as it is, where the operator is allowed', () => {
    expect(validated([pattern('^[a-z]+@example\\.(com|org)$', { caseInsensitive: true })], [], true)).toEqual([
      expect.objectContaining({
        operator: 'REGEX',
        value: '^[a-z]+@example\\.(com|org)$',
        values: [],
        caseInsensitive: true,
      }),
    ]);
  });

  it('does not have to be a legal value of its field', () => {
    expect(validated([pattern('^(oslo|berg.*)$', { contextName: 'region' })], [], true)).toHaveLength(1);
  });

  it.each([
    ['(a', 'missing closing ): `(a`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['\\1', 'invalid escape sequence'],
    ['[z-a]', 'invalid character class range'],
    ['\\p{L}{1000}', 'compiles to 1002 instructions, and the limit is 250'],
    ['x'.repeat(101), 'must be at most 100 characters long'],
    ['', 'require a non-empty value'],
  ])('is refused with the pattern %j, and the place of the fault', (value, reason) => {
    const refusal = refusalWhereAllowed(pattern(value));
    expect(refusal.details[0]?.path).toBe('/constraints/0/value');
    expect(refusal.message).toContain(reason);
  });
});

describe('the constraints of a strategy', () => {
  const many = (count: number): Constraint[] => numbers(count).map((value) => on('NUM_GT', { value }));

  it('are refused by their name if a strategy has more than 30 constraints', () => {
    expect(validated(many(30))).toHaveLength(30);
    expect(refusalOf(many(31))).toMatchObject({
      kind: 'ExceedsLimitError',
      message:
        "Failed to create constraints. You can't create more than the established limit of 30: see the `/constraints` property.",
      details: [{ path: '/constraints' }],
    });
  });

  it('may exceed the limit when they already did, but may not grow', () => {
    expect(validated(many(31), many(31))).toHaveLength(31);
    expect(validated(many(31), many(35))).toHaveLength(31);
    expect(refusalOf(many(32), many(31)).kind).toBe('ExceedsLimitError');
  });

  it('have at most 250 values each', () => {
    expect(validated([on('IN', { values: numbers(250) })])).toHaveLength(1);
    expect(refusalOf([on('IN', { values: numbers(251) })])).toMatchObject({
      kind: 'ExceedsLimitError',
      message: `Failed to create constraint values for userId. You can't create more than the established limit of ${fixedResourceLimits.valuesPerConstraint}: see the \`/constraints/0/values\` property.`,
      details: [{ path: '/constraints/0/values' }],
    });
  });

  it('may exceed the limit of values when they already did, but may not grow', () => {
    const stored = [on('IN', { values: numbers(260) })];
    expect(validated([on('IN', { values: numbers(255) })], stored)).toHaveLength(1);
    expect(validated([on('IN', { values: numbers(260).reverse() })], stored)).toHaveLength(1);
    expect(refusalOf([on('IN', { values: numbers(261) })], stored).kind).toBe('ExceedsLimitError');
    expect(refusalOf([on('NOT_IN', { values: numbers(255) })], stored).kind).toBe('ExceedsLimitError');
  });
});
