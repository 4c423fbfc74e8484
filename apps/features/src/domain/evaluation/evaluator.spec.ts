import { describe, expect, it } from '@jest/globals';
import { type EvaluatedFeature, type EvaluatedStrategy, evaluatorOf } from './evaluator.ts';
import { murmurHash } from './murmur.ts';
import type { Situation } from './situation.ts';

const at = (context: Readonly<Record<string, string>> = {}, more: Partial<Situation> = {}): Situation => ({
  context: new Map(Object.entries(context)),
  now: new Date('2026-11-22T12:00:00.000Z'),
  random: () => 0.5,
  ...more,
});
const feature = (about: Partial<EvaluatedFeature> = {}): EvaluatedFeature => ({
  name: 'lamp',
  enabled: true,
  strategies: [],
  ...about,
});
const isOn = (strategy: EvaluatedStrategy, situation: Situation): boolean =>
  evaluatorOf([feature({ strategies: [strategy] })]).evaluate('lamp', situation).enabled;

describe('a user', () => {
  it('is on the same side each time, and stays on it when a share grows', () => {
    const share = (rollout: number) => {
      const strategy = { name: 'flexibleRollout', parameters: { rollout: String(rollout), stickiness: 'default' } };
      const evaluator = evaluatorOf([feature({ strategies: [strategy] })]);
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

  it('of whom nothing is known is on a side by chance, and on none where it takes a field that is not known', () => {
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

  it('is found by the bytes of a name, whatever language it is in', () => {
    // Reference values of MurmurHash3 x86 32 of the UTF-8 bytes.
    expect([murmurHash(''), murmurHash('', 1), murmurHash('hello'), murmurHash('hello, world')]).toEqual([
      0, 0x514e28b7, 0x248bfa47, 0x149bbb7f,
    ]);
    expect(murmurHash('ππππππππ', 0x9747b28c)).toBe(0xd58063c1);
  });
});

describe('a feature', () => {
  it('with a segment that is not there is on for nobody', () => {
    const withSegment = feature({ strategies: [{ name: 'default', segments: [7] }] });
    expect(evaluatorOf([withSegment]).evaluate('lamp', at()).enabled).toBe(false);
    expect(evaluatorOf([withSegment], [{ id: 7, constraints: [] }]).evaluate('lamp', at()).enabled).toBe(true);
  });

  it('is off where nobody here can know whether it is on: a host, a strategy or an operator of their own', () => {
    for (const name of ['applicationHostname', 'ourOwn', 'constructor', '__proto__'])
      expect(isOn({ name, parameters: { hostNames: 'a' } }, at())).toBe(false);
    for (const inverted of [false, true]) {
      const constraints = [{ contextName: 'userId', operator: 'toString', values: ['7'], inverted }];
      expect(isOn({ name: 'default', constraints }, at({ userId: '7' }))).toBe(false);
    }
  });

  it('is compared with nothing that a context only inherits', () => {
    for (const contextName of ['constructor', '__proto__', 'toString']) {
      const constraints = [{ contextName, operator: 'STR_CONTAINS', values: ['function'] }];
      expect(isOn({ name: 'default', constraints }, at())).toBe(false);
    }
  });

  it('depends on one side of its parent, also where chance has put the user on it', () => {
    const half = { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'random', groupId: 'g' } };
    const parent = feature({ name: 'parent', strategies: [half] });
    const child = (name: string, enabled: boolean) => feature({ name, dependencies: [{ feature: 'parent', enabled }] });
    const evaluator = evaluatorOf([child('with', true), parent, child('without', false)]);
    for (let seed = 1; seed < 100; seed++) {
      let last = seed;
      const random = () => (last = (last * 48_271) % 2_147_483_647) / 2_147_483_647;
      const on = evaluator.active(at({}, { random })).map((one) => one.feature.name);
      expect([['with', 'parent'], ['without']]).toContainEqual(on);
    }
  });

  it('whose parents go round in a circle is off, and so are they', () => {
    const [one, other] = [
      feature({ name: 'one', dependencies: [{ feature: 'other' }] }),
      feature({ name: 'other', dependencies: [{ feature: 'one' }] }),
    ];
    expect(evaluatorOf([one, other]).active(at())).toEqual([]);
    expect(evaluatorOf([feature({ dependencies: [{ feature: 'lamp' }] })]).active(at())).toEqual([]);
  });

  it('gives the variants of its strategy, and its own where that has none', () => {
    const variant = (name: string) => ({ name, weight: 1000, payload: { type: 'string', value: name } });
    const byStrategy = { name: 'default', variants: [variant('of-strategy')] };
    const both = feature({ strategies: [byStrategy], variants: [variant('of-feature')] });
    expect(evaluatorOf([both]).evaluate('lamp', at({ userId: '1' })).variant).toEqual({
      name: 'of-strategy',
      enabled: true,
      payload: { type: 'string', value: 'of-strategy' },
    });
    expect(evaluatorOf([{ ...both, strategies: [] }]).evaluate('lamp', at()).variant.name).toBe('of-feature');
    expect(evaluatorOf([feature()]).evaluate('lamp', at()).variant).toEqual({ name: 'disabled', enabled: false });
  });
});

it.each([
  ['10.1.2.3', ['10.0.0.0/8'], true],
  ['11.1.2.3', ['10.0.0.0/8'], false],
  ['10.1.2.3', ['10.1.2.3', 'nonsense'], true],
  ['2001:db8::7', ['2001:db8::/32'], true],
  ['2001:db9::7', ['2001:db8::/32'], false],
  ['10.1.2.3', ['::/0'], false],
  ['not an address', ['0.0.0.0/0', '::/0'], false],
  ['1'.repeat(10_000), ['0.0.0.0/0'], false],
])('takes %s for one of %p: %p', (remoteAddress, ranges, expected) => {
  const strategy = { name: 'remoteAddress', parameters: { IPs: ranges.join(', ') } };
  expect(isOn(strategy, at({ remoteAddress }))).toBe(expected);
});

it('evaluates ten thousand features for a user in the time that a request may take', () => {
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
  const evaluator = evaluatorOf(features);
  const before = performance.now();
  expect(evaluator.active(at({ userId: '7', country: 'no' })).length).toBeGreaterThan(4_000);
  expect(performance.now() - before).toBeLessThan(1_000);
});
