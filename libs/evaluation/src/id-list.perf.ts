import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { encodeIdBlock, decodeIdBlock, blockCountFor, sortedIds } from '@bunting/contracts/id-blocks';
import { blockOfId, idList, readIdBlock } from './id-list.ts';

const size = 1_000_000;

it('a million UUIDs take at most 120 MB, and are looked up in at most 2 µs', () => {
  const blocks: string[][] = Array.from({ length: blockCountFor(size, 37 * size) }, () => []);
  const samples: string[] = [];
  for (let nth = 0; nth < size; nth++) {
    const id = randomUUID();
    blocks[blockOfId(id, blocks.length)]?.push(id);
    if (nth % 5 === 0) samples.push(id, randomUUID());
  }
  const list = idList(blocks.map((ids) => readIdBlock(decodeIdBlock(encodeIdBlock(sortedIds(ids))))));
  // As ids come with requests: texts that nothing has read before, and not the ropes that `randomUUID` returns, which the first look-up flattens.
  const body = JSON.stringify(samples);
  let found = 0;
  const rounds = Array.from({ length: 5 }, () => {
    const arrived = JSON.parse(body) as readonly string[];
    const startedAt = performance.now();
    for (const id of arrived) if (list.has(id)) found++;
    return ((performance.now() - startedAt) * 1_000) / arrived.length;
  });
  const microseconds = rounds.toSorted((one, other) => one - other)[2] as number;
  console.log(`${list.size} ids: ${(list.bytes / 1e6).toFixed(1)} MB, ${microseconds.toFixed(2)} µs a look-up`);
  expect(found).toBe(5 * (samples.length / 2));
  expect(list.bytes).toBeLessThan(120e6);
  expect(microseconds).toBeLessThan(2);
});
