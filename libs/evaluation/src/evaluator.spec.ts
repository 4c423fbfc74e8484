import { describe, expect, it } from 'vitest';
import { type EvaluableFeature, type EvaluableSegment, type EvaluableStrategy, compileEvaluator } from './evaluator.ts';
import { murmurHasher } from './variant.ts';
import type { EvaluationContext } from './constraint.ts';

const at = (
  context: Readonly<Record<string, string>> = {},
  more: Partial<EvaluationContext> = {},
): EvaluationContext => ({
  fields: new Map(Object.entries(context)),
  now: new Date('2026-11-22T12:00:00.000Z'),
  random: () => 0.5,
  ...more,
});
const feature = (about: Partial<EvaluableFeature> = {}): EvaluableFeature => ({
  name: 'lamp',
  enabled: true,
  strategies: [],
  ...about,
});
const isOn = (strategy: EvaluableStrategy, context: EvaluationContext): boolean =>
  compileEvaluator([feature({ strategies: [strategy] })]).evaluate('lamp', context).enabled;

describe('rollouts', () => {
  it('keep each user on the same side, and only add users as the percentage grows', () => {
    const share = (rollout: number) => {
      const strategy = { name: 'flexibleRollout', parameters: { rollout: String(rollout), stickiness: 'default' } };
      const evaluator = compileEvaluator([feature({ strategies: [strategy] })]);
      return Array.from({ length: 1_000 }, (_, id) => evaluator.evaluate('lamp', at({ userId: String(id) })).enabled);
    };
    const [ten, half] = [share(10), share(50)];
    expect(share(10)).toEqual(ten);
    expect(ten.every((on, id) => !on || half[id])).toBe(true);
    expect(share(0).some(Boolean)).toBe(false);
    expect(share(100).every(Boolean)).toBe(true);
    for (const [share, few, many] of [
      [ten, 60, 140],
      [half, 430, 570],
    ] as const) {
      const on = share.filter(Boolean).length;
      expect(on).toBeGreaterThan(few);
      expect(on).toBeLessThan(many);
    }
  });

  it('put a user without id in a random bucket, and in none where the stickiness field is missing', () => {
    const strategy = (stickiness: string) => ({
      name: 'flexibleRollout',
      parameters: { rollout: '50', stickiness, groupId: 'g' },
    });
    const sides = new Set(
      Array.from({ length: 50 }, (_, nth) => isOn(strategy('default'), at({}, { random: () => nth / 50 }))),
    );
    expect(sides.size).toBe(2);
    expect(isOn({ ...strategy('tenant'), parameters: { rollout: '100', stickiness: 'tenant' } }, at())).toBe(false);
  });

  it('hash the UTF-8 bytes of a key (MurmurHash3 reference values)', () => {
    const expected = [
      ['', 0, 0],
      ['', 1, 0x514e28b7],
      ['hello', 0, 0x248bfa47],
      ['hello, world', 0, 0x149bbb7f],
      ['ππππππππ', 0x9747b28c, 0xd58063c1],
    ] as const;
    for (const [text, seed, hash] of expected) {
      // The hash must not depend on where the prefix ends, which is hashed in advance.
      for (let end = 0; end <= text.length; end++) {
        expect(murmurHasher(text.slice(0, end), seed)(text.slice(end))).toBe(hash);
      }
    }
  });
});

describe('a feature', () => {
  it('is off for every user when its segment does not exist', () => {
    const withSegment = feature({ strategies: [{ name: 'default', segments: [7] }] });
    expect(compileEvaluator([withSegment]).evaluate('lamp', at()).enabled).toBe(false);
    expect(compileEvaluator([withSegment], [{ id: 7, constraints: [] }]).evaluate('lamp', at()).enabled).toBe(true);
  });

  it('is off where the server cannot evaluate a strategy type or an operator', () => {
    for (const name of ['applicationHostname', 'ourOwn', 'constructor', '__proto__'])
      expect(isOn({ name, parameters: { hostNames: 'a' } }, at())).toBe(false);
    for (const inverted of [false, true]) {
      const constraints = [{ contextName: 'userId', operator: 'toString', values: ['7'], inverted }];
      expect(isOn({ name: 'default', constraints }, at({ userId: '7' }))).toBe(false);
    }
  });

  it('matches a pattern anywhere in a text of up to 1000 characters', () => {
    const constraint = { contextName: 'userId', operator: 'REGEX', value: '(a+a+)+b$' };
    const matches = (userId: string, more: object = {}) =>
      isOn({ name: 'default', constraints: [{ ...constraint, ...more }] }, at({ userId }));
    expect(matches('xaab')).toBe(true);
    expect(matches('xAAB')).toBe(false);
    expect(matches('xAAB', { caseInsensitive: true })).toBe(true);
    expect(matches(`${'a'.repeat(999)}b`)).toBe(true);
    expect(matches(`${'a'.repeat(1_000)}b`)).toBe(false);
    expect(matches('aab', { value: '(a' })).toBe(false);
  });

  it('does not match inherited properties of the context object', () => {
    for (const contextName of ['constructor', '__proto__', 'toString']) {
      const constraints = [{ contextName, operator: 'STR_CONTAINS', values: ['function'] }];
      expect(isOn({ name: 'default', constraints }, at())).toBe(false);
    }
  });

  it('sees the result of its parent that the same request resolves, also when the rollout of the parent is random', () => {
    const half = { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'random', groupId: 'g' } };
    const evaluator = compileEvaluator([
      feature({ name: 'child', dependencies: [{ feature: 'parent' }] }),
      feature({ name: 'parent', strategies: [half] }),
      feature({ name: 'sibling', dependencies: [{ feature: 'parent' }] }),
    ]);
    let last = 1;
    const random = () => (last = (last * 48_271) % 2_147_483_647) / 2_147_483_647;
    const seen = new Set<boolean>();
    for (let nth = 0; nth < 100; nth++) {
      const context = at({}, { random });
      const results = ['child', 'parent', 'sibling'].map((name) => evaluator.resolve(name, context)?.enabled);
      expect(new Set(results).size).toBe(1);
      seen.add(results[0] === true);
    }
    expect(seen.size).toBe(2);
  });

  it('sees one result of its parent per user, also when the rollout of the parent is random', () => {
    const half = { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'random', groupId: 'g' } };
    const parent = feature({ name: 'parent', strategies: [half] });
    const child = (name: string, enabled: boolean) => feature({ name, dependencies: [{ feature: 'parent', enabled }] });
    const evaluator = compileEvaluator([child('with', true), parent, child('without', false)]);
    for (let seed = 1; seed < 100; seed++) {
      let last = seed;
      const random = () => (last = (last * 48_271) % 2_147_483_647) / 2_147_483_647;
      const on = evaluator.active(at({}, { random })).map((one) => one.feature.name);
      expect([['with', 'parent'], ['without']]).toContainEqual(on);
    }
  });

  it('is off, like its parents, when dependencies are circular', () => {
    const [one, other] = [
      feature({ name: 'one', dependencies: [{ feature: 'other' }] }),
      feature({ name: 'other', dependencies: [{ feature: 'one' }] }),
    ];
    expect(compileEvaluator([one, other]).active(at())).toEqual([]);
    expect(compileEvaluator([feature({ dependencies: [{ feature: 'lamp' }] })]).active(at())).toEqual([]);
  });

  it('gives the variants of the matching strategy, and its own where that has none', () => {
    const variant = (name: string) => ({ name, weight: 1000, payload: { type: 'string', value: name } });
    const byStrategy = { name: 'default', variants: [variant('of-strategy')] };
    const both = feature({ strategies: [byStrategy], variants: [variant('of-feature')] });
    expect(compileEvaluator([both]).evaluate('lamp', at({ userId: '1' })).variant).toEqual({
      name: 'of-strategy',
      enabled: true,
      payload: { type: 'string', value: 'of-strategy' },
    });
    expect(compileEvaluator([{ ...both, strategies: [] }]).evaluate('lamp', at()).variant.name).toBe('of-feature');
    expect(compileEvaluator([feature()]).evaluate('lamp', at()).variant).toEqual({ name: 'disabled', enabled: false });
  });
});

it.each([
  ['10.1.2.3', ['10.0.0.0/8'], true],
  ['11.1.2.3', ['10.0.0.0/8'], false],
  ['10.1.2.3', ['10.1.2.3', 'nonsense'], true],
  ['2001:db8::7', ['2001:db8::/32'], true],
  ['2001:db9::7', ['2001:db8::/32'], false],
  ['10.1.2.3', ['::/0'], false],
  ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
  ['::FFFF:0a01:0203', ['10.1.2.3'], true],
  ['10.1.2.3', ['::ffff:10.0.0.0/104'], true],
  ['::ffff:11.1.2.3', ['10.0.0.0/8'], false],
  ['not an address', ['0.0.0.0/0', '::/0'], false],
  ['1'.repeat(10_000), ['0.0.0.0/0'], false],
])('matches the remote address %s against %j: %j', (remoteAddress, ranges, expected) => {
  const strategy = { name: 'remoteAddress', parameters: { IPs: ranges.join(', ') } };
  expect(isOn(strategy, at({ remoteAddress }))).toBe(expected);
});

it.each([
  ['0', 0],
  ['-0', 0],
  ['5', 5],
  ['+5', 5],
  ['-5.25', -5.25],
  ['.5', 0.5],
  ['5.', 5],
  ['007', 7],
  ['1e3', 1000],
  [' 5 ', 5],
  ['9007199254740993', 2 ** 53],
  ['Infinity', Infinity],
  ...[
    '',
    ' ',
    '\t',
    '\n',
    '\u00a0',
    'abc',
    '5 5',
    '1,5',
    '0x10',
    ' 0X10',
    '0b1',
    '0o7',
    'true',
    'null',
    'NaN',
    '5px',
  ].map((text): [string, number] => [text, Number.NaN]),
])('compares the context value %j as the number %j', (text, number) => {
  const matches = (operator: string, value: number) =>
    isOn({ name: 'default', constraints: [{ contextName: 'age', operator, value: String(value) }] }, at({ age: text }));
  for (const operand of [-1e9, 0, 5, 1e9]) {
    expect(matches('NUM_EQ', operand)).toBe(number === operand);
    expect(matches('NUM_GT', operand)).toBe(number > operand);
    expect(matches('NUM_GTE', operand)).toBe(number >= operand);
    expect(matches('NUM_LT', operand)).toBe(number < operand);
    expect(matches('NUM_LTE', operand)).toBe(number <= operand);
  }
  if (Number.isFinite(number)) expect(matches('NUM_EQ', number)).toBe(true);
});

it('evaluates ten thousand features for one user', () => {
  const features = Array.from({ length: 10_000 }, (_, nth) =>
    feature({
      name: `flag-${nth}`,
      strategies: [
        {
          name: 'flexibleRollout',
          parameters: { rollout: '50', stickiness: 'default', groupId: `flag-${nth}` },
          constraints: [{ contextName: 'country', operator: 'IN', values: ['no', 'se', 'dk'] }],
          variants: [{ name: 'blue', weight: 1000 }],
        },
      ],
    }),
  );
  const active = compileEvaluator(features).active(at({ userId: '7', country: 'no' }));
  expect(active.length).toBeGreaterThan(4_500);
  expect(active.length).toBeLessThan(5_500);
});

describe('explanations', () => {
  const rollout = (percentage: number) => ({
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'lamp' },
  });
  const inNorway = { contextName: 'country', operator: 'IN', values: ['no'] };
  const explain = (about: Partial<EvaluableFeature>, context: EvaluationContext, segments: EvaluableSegment[] = []) =>
    compileEvaluator([feature(about)], segments).explain('lamp', context);

  it('name the constraint and the segment that did not match', () => {
    const strategy = { name: 'default', constraints: [inNorway], segments: [1, 2] };
    const segments = [{ id: 1, constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] }];
    expect(explain({ strategies: [strategy] }, at({ country: 'no', plan: 'free' }), segments)).toMatchObject({
      enabled: false,
      result: false,
      strategies: [
        {
          result: false,
          constraints: [true],
          segments: [
            { id: 1, result: false, constraints: [false] },
            { id: 2, result: false, constraints: [] },
          ],
        },
      ],
    });
  });

  it('say the bucket of the user in a rollout, and none without a value of the stickiness field', () => {
    const [explained] = explain({ strategies: [rollout(50)] }, at({ userId: '7' }))?.strategies ?? [];
    const { bucket } = explained?.rollout ?? {};
    expect(explained?.result).toBe((bucket ?? 101) <= 50);
    expect(explain({ strategies: [rollout(bucket ?? 0)] }, at({ userId: '7' }))?.enabled).toBe(true);
    expect(explain({ strategies: [rollout((bucket ?? 0) - 1)] }, at({ userId: '7' }))?.enabled).toBe(false);
    const byTenant = { ...rollout(100), parameters: { ...rollout(100).parameters, stickiness: 'tenant' } };
    expect(explain({ strategies: [byTenant] }, at({ userId: '7' }))).toMatchObject({
      enabled: false,
      strategies: [{ rollout: { bucket: null, stickiness: 'tenant', percentage: 100 } }],
    });
  });

  it('call a strategy unknown that only the application can evaluate, unless a constraint rules it out', () => {
    const custom = { name: 'ourOwn', constraints: [inNorway] };
    expect(explain({ strategies: [custom] }, at({ country: 'no' }))).toMatchObject({
      enabled: false,
      result: 'unknown',
      strategies: [{ result: 'unknown', isEvaluable: false }],
    });
    expect(explain({ strategies: [custom] }, at({ country: 'se' }))).toMatchObject({ enabled: false, result: false });
    expect(explain({ strategies: [custom, { name: 'default' }] }, at({ country: 'no' }))).toMatchObject({
      enabled: true,
      result: true,
    });
  });

  it('distinguish a feature that is off by itself from one that is off by a dependency', () => {
    expect(explain({ enabled: false }, at())).toMatchObject({ enabled: false, result: true });
    expect(explain({ dependencies: [{ feature: 'absent' }] }, at())).toMatchObject({
      enabled: false,
      result: true,
      hasUnsatisfiedDependency: true,
    });
    expect(compileEvaluator([]).explain('lamp', at())).toBeUndefined();
  });

  it('decide as evaluate does for every user', () => {
    const evaluator = compileEvaluator([
      feature({ strategies: [{ ...rollout(30), constraints: [inNorway] }, { name: 'ourOwn' }, rollout(20)] }),
    ]);
    for (let id = 0; id < 500; id++) {
      const context = at({ userId: String(id), country: id % 2 === 0 ? 'no' : 'se' });
      expect(evaluator.explain('lamp', context)).toMatchObject(evaluator.evaluate('lamp', context));
    }
  });
});
