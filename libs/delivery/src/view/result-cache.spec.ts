import { randomUUID } from 'node:crypto';
import type { DeliveryState, OutboxMessage } from '@bunting/contracts';
import { compileEvaluator, type EvaluableFeature, type EvaluationContext, frontendFeature } from '@bunting/evaluation';
import { expect, it } from 'vitest';
import { aSetting, aStrategy, featureRow, givenRows } from '../../test/delivery-rows.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { deliveryView } from './delivery-view.ts';
import { evaluatorCache } from './evaluator-cache.ts';
import { activeList, listOfItems, renderItem, resultCache } from './result-cache.ts';

/** A cache of results, and how often a result was evaluated. */
const startCache = (strategy: object = {}, maxBytes = 1024 * 1024) => {
  const store = deliveryStore();
  let position = 0;
  const write = (...states: readonly DeliveryState[]): void => {
    const messages = states.map((payload): OutboxMessage => {
      const row = { position: ++position, uid: randomUUID(), type: payload.entity, payload };
      return { ...row, recordedAt: new Date().toISOString(), traceparent: null };
    });
    store.apply(messages, position, true);
  };
  const lamp = (more: object = {}) =>
    featureRow('lamp', {
      environments: { development: aSetting({ strategies: [{ ...aStrategy(), ...strategy }] as never }) },
      ...more,
    });
  write(...givenRows('default', 'north'), lamp());
  const evaluationOf = evaluatorCache(store);
  const views = [
    deliveryView(store, { environment: 'development', inlineSegments: false }),
    deliveryView(store, { environment: 'development', inlineSegments: false, projects: ['north'] }),
  ] as const;
  const resultOf = resultCache(maxBytes);
  let evaluations = 0;
  const resultFor = (
    fields: Readonly<Record<string, string>>,
    { now = 0, view = 0, kind = 'frontend' as 'frontend' | 'ofrep' } = {},
  ): string => {
    const evaluation = evaluationOf(views[view] as (typeof views)[0]);
    const context: EvaluationContext = {
      fields: new Map(Object.entries(fields)),
      now: new Date(now),
      random: () => 0.5,
    };
    const { json } = resultOf(kind, evaluation, context, (observed) => {
      evaluations++;
      const names = evaluation.active(observed).map(({ feature }) => feature.name);
      return { json: Buffer.from(names.join()), hash: '' };
    });
    return json.toString();
  };
  return { resultFor, write, lamp, evaluations: () => evaluations };
};
const constraint = (operator: string, value: string) => ({
  constraints: [{ contextName: 'userId', operator, value, values: [value] }],
});

it('a user for whom nothing has changed gets the result that was evaluated before', () => {
  const { resultFor, evaluations } = startCache(constraint('IN', 'ada'));
  for (let nth = 0; nth < 3; nth++) expect(resultFor({ userId: 'ada' })).toBe('lamp');
  expect(evaluations()).toBe(1);
});

it('no user gets the result of another user, of another scope, or of another protocol', () => {
  const { resultFor, evaluations } = startCache(constraint('IN', 'ada'));
  expect(resultFor({ userId: 'ada' })).toBe('lamp');
  expect(resultFor({ userId: 'bob' })).toBe('');
  expect(resultFor({ userId: 'ada', country: 'no' })).toBe('lamp');
  expect(resultFor({ userId: 'ada","country":"no' })).toBe('');
  expect(resultFor({ userId: 'ada' }, { view: 1 })).toBe('');
  resultFor({ userId: 'ada' }, { kind: 'ofrep' });
  expect(evaluations()).toBe(6);
});

it('a change is in the next result of every user', () => {
  const { resultFor, write, lamp, evaluations } = startCache(constraint('IN', 'ada'));
  expect(resultFor({ userId: 'ada' })).toBe('lamp');
  write(lamp({ environments: { development: aSetting({ enabled: false }) } }));
  expect(resultFor({ userId: 'ada' })).toBe('');
  write(lamp());
  expect([resultFor({ userId: 'ada' }), resultFor({ userId: 'ada' })]).toEqual(['lamp', 'lamp']);
  expect(evaluations()).toBe(3);
});

it('a result that depends on chance is drawn for each request, unless the user has a key', () => {
  const { resultFor, evaluations } = startCache({ parameters: { rollout: '50', stickiness: 'default', groupId: 'g' } });
  for (let nth = 0; nth < 3; nth++) resultFor({ country: 'no' });
  expect(evaluations()).toBe(3);
  for (let nth = 0; nth < 3; nth++) resultFor({ userId: 'ada' });
  expect(evaluations()).toBe(4);
});

it.each([
  ['DATE_AFTER', ['', '', '', 'lamp', 'lamp']],
  ['DATE_BEFORE', ['lamp', 'lamp', '', '', '']],
])(
  'a result that depends on the time by %s changes at that millisecond, and goes back with the clock',
  (operator, expected) => {
    const { resultFor, evaluations } = startCache(constraint(operator, new Date(1_000).toISOString()));
    const results = [0, 999, 1_000, 1_001, 5_000].map((now) => resultFor({}, { now }));
    expect(results).toEqual(expected);
    expect(evaluations()).toBe(3);
    expect(resultFor({}, { now: 999 })).toBe(expected[1]);
  },
);

it('results take at most as much memory as is allowed, and those with long contexts none', () => {
  const { resultFor, evaluations } = startCache({}, 10_000);
  for (let round = 0; round < 2; round++) for (let nth = 0; nth < 100; nth++) resultFor({ userId: `user-${nth}` });
  expect(evaluations()).toBe(200);
  for (let nth = 0; nth < 3; nth++) resultFor({ userId: 'x'.repeat(2_000) });
  expect(evaluations()).toBe(203);
});

it('the list of what is on is the JSON of each feature in turn, with the hash of their hashes, however many are on', () => {
  const rollout = (nth: number) => ({ name: 'flexibleRollout', parameters: { rollout: String(nth % 101) } });
  const forNorway = { contextName: 'country', operator: 'IN', values: ['no'] };
  const flag = (nth: number): EvaluableFeature => ({
    name: `flag-${'x'.repeat(nth % 40)}ö-${nth}`,
    enabled: nth % 5 > 0,
    impressionData: nth % 7 === 0,
    strategies: [nth % 3 === 0 ? { ...rollout(nth), constraints: [forNorway] } : rollout(nth)],
    variants: nth % 11 === 0 ? [{ name: 'blue', weight: 1000 }] : [],
  });
  const evaluators = [0, 1, 4, 3_000].map((length) => compileEvaluator(Array.from({ length }, (_, nth) => flag(nth))));
  const users = [{ userId: '1' }, { userId: '2', country: 'no' }, { country: 'no' }, {}];
  for (const evaluator of [...evaluators, ...evaluators])
    for (const fields of users) {
      const context = { fields: new Map<string, string>(Object.entries(fields)), now: new Date(0), random: () => 0.4 };
      const items = evaluator.active(context).map((active) => renderItem(JSON.stringify(frontendFeature(active))));
      const { json, hash } = activeList(evaluator, context);
      const expected = listOfItems('{"toggles":[', items, ']}');
      expect([json.toString(), hash]).toEqual([expected.json.toString(), expected.hash]);
      expect(JSON.parse(json.toString())).toMatchObject({ toggles: expect.any(Array) });
    }
});
