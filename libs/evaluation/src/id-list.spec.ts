import { randomUUID } from 'node:crypto';
import { blockCountFor, decodeIdBlock, encodeIdBlock, idsOfBlock, sortedIds } from '@bunting/contracts/id-blocks';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileEvaluator, type EvaluableList } from './evaluator.ts';
import { blockOfId, type IdList, idList, readIdBlock } from './id-list.ts';

/** A list of ids, through the blocks in which it is stored. */
const listOf = (ids: readonly string[], blocks: number): IdList => {
  const divided: string[][] = Array.from({ length: blocks }, () => []);
  for (const id of ids) divided[blockOfId(id, blocks)]?.push(id);
  return idList(divided.map((block) => readIdBlock(decodeIdBlock(encodeIdBlock(sortedIds(block))))));
};

it('a list has its ids, of any script, and no others', () => {
  const id = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((text) => !/[\n\ud800-\udfff]/u.test(text));
  fc.assert(
    fc.property(fc.array(id), fc.array(id), fc.constantFrom(1, 2, 16), (ids, others, blocks) => {
      const list = listOf(ids, blocks);
      const known = new Set(ids);
      expect(list.size).toBe(known.size);
      expect([...list.ids()].sort()).toEqual([...known].sort());
      for (const one of [
        ...ids,
        ...others,
        '',
        'a\nb',
        ...ids.map((other) => other.slice(1)),
        ...ids.map((other) => `${other}x`),
      ])
        expect(list.has(one)).toBe(known.has(one));
    }),
  );
});

it('a list of 100,000 UUIDs takes at most 50 bytes for each', () => {
  const ids = Array.from({ length: 100_000 }, () => randomUUID());
  const list = listOf(ids, blockCountFor(ids.length, 0));
  expect(list.bytes).toBeLessThan(50 * ids.length);
  expect(ids.every(list.has)).toBe(true);
  // One of 30 such lists has an id without any letter.
  const others = ids.map((id) => id.toUpperCase()).filter((id) => /[A-F]/.test(id));
  expect(others.some(list.has)).toBe(false);
});

it('a block is the same whatever the order of its ids', () => {
  const ids = ['b', 'a', '\uffee', '😀', 'a'];
  const block = encodeIdBlock(sortedIds(ids));
  expect(block).toEqual(encodeIdBlock(sortedIds(ids.toReversed())));
  expect(idsOfBlock(decodeIdBlock(block))).toEqual(['a', 'b', '\uffee', '😀']);
});

it('blocks are divided anew only where they have become far too large or too small', () => {
  expect([0, 1, 1_000, 1_001, 1_000_000].map((size) => blockCountFor(size, 0))).toEqual([1, 1, 1, 2, 1_024]);
  expect([1_024, 2_000, 4_000].map((size) => blockCountFor(size, 0, 1))).toEqual([1, 1, 1]);
  expect(blockCountFor(4_001, 0, 1)).toBe(8);
  expect(blockCountFor(250, 0, 1)).toBe(1);
  expect([1_000, 999].map((size) => blockCountFor(size, 0, 4))).toEqual([4, 1]);
});

const segmentOf = (list: EvaluableList) => ({
  id: 1,
  list,
  constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }],
});
const isOn = (list: EvaluableList, fields: Readonly<Record<string, string>>): boolean => {
  const feature = { name: 'f', enabled: true, strategies: [{ name: 'default', segments: [1] }] };
  const context = { fields: new Map(Object.entries(fields)), now: new Date(0), random: () => 0.5 };
  const evaluator = compileEvaluator([feature], [segmentOf(list)]);
  const { enabled } = evaluator.evaluate('f', context);
  expect(evaluator.explain('f', context)?.enabled).toBe(enabled);
  expect(evaluator.resolve('f', context)?.enabled).toBe(enabled);
  return enabled;
};

it('a segment with a list matches users who have one of its ids and satisfy its constraints', () => {
  const list = { contextName: 'userId', ids: listOf(['ann', 'bob'], 1) };
  expect(isOn(list, { userId: 'ann', plan: 'pro' })).toBe(true);
  expect(isOn(list, { userId: 'ann', plan: 'free' })).toBe(false);
  expect(isOn(list, { userId: 'eve', plan: 'pro' })).toBe(false);
  expect(isOn(list, { plan: 'pro' })).toBe(false);
});

it.each<[string, EvaluableList['ids']]>([
  ['has no ids', listOf([], 1)],
  ['is not known', undefined],
])('a segment whose list %s matches nobody', (_, ids) => {
  expect(isOn({ contextName: 'userId', ids }, { userId: 'ann', plan: 'pro' })).toBe(false);
  expect(isOn({ contextName: 'userId', ids }, { userId: '', plan: 'pro' })).toBe(false);
});
