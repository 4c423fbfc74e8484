import { describe, expect, it } from 'vitest';
import { randomBytes, randomInt } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { gzipPart, joinGzip } from './compression.ts';

const textOf = (length: number): Buffer =>
  Buffer.from('a flag of many '.repeat(Math.ceil(length / 15))).subarray(0, length);

describe('a gzip stream of parts', () => {
  it('is decoded to the bytes of all parts, whatever their lengths', async () => {
    for (const lengths of [
      [],
      [0],
      [1],
      [0, 0, 7],
      [1, 2, 3],
      [40_000],
      [40_000, 0, 1, 100_000],
      [65_535, 65_536, 65_537],
    ]) {
      const texts = lengths.map(textOf);
      const joined = joinGzip(await Promise.all(texts.map(gzipPart)));
      expect(gunzipSync(joined).equals(Buffer.concat(texts))).toBe(true);
    }
  });

  it('is decoded to the bytes of all parts, in any order and repeated', async () => {
    const texts = Array.from({ length: 40 }, () =>
      Buffer.concat([randomBytes(randomInt(2_000)), textOf(randomInt(50_000))]),
    );
    const parts = await Promise.all(texts.map(gzipPart));
    for (let round = 0; round < 20; round++) {
      const order = Array.from({ length: randomInt(1, 60) }, () => randomInt(texts.length));
      const joined = joinGzip(order.map((nth) => parts[nth]!));
      expect(gunzipSync(joined).equals(Buffer.concat(order.map((nth) => texts[nth]!)))).toBe(true);
    }
  });

  it('is refused by decoders when a part was changed', async () => {
    const parts = await Promise.all(['one', 'two'].map((text) => gzipPart(Buffer.from(text))));
    const broken = joinGzip(parts.map((part, nth) => (nth === 0 ? { ...part, crc: part.crc ^ 1 } : part)));
    expect(() => gunzipSync(broken)).toThrow('incorrect data check');
  });
});
