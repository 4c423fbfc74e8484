const c1 = 0xcc9e2d51;
const c2 = 0x1b873593;

const rotateLeft = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
const mixBlock = (value: number): number => Math.imul(rotateLeft(Math.imul(value, c1), 15), c2);

const utf8 = new TextEncoder();

/** The UTF-8 bytes of a text. ASCII, which nearly every key is, is read without a copy. */
const byteReader = (text: string): { readonly length: number; readonly at: (index: number) => number } => {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) < 0x80) continue;
    const bytes = utf8.encode(text);
    return { length: bytes.length, at: (nth) => bytes[nth] as number };
  }
  return { length: text.length, at: (nth) => text.charCodeAt(nth) };
};

/** MurmurHash3 (x86, 32 bits) of the UTF-8 bytes of a text, as most server-side SDKs compute it. */
export const murmurHash = (text: string, seed = 0): number => {
  const { length, at } = byteReader(text);
  const blockBytes = length - (length % 4);
  let hash = seed;
  for (let index = 0; index < blockBytes; index += 4) {
    const block = at(index) | (at(index + 1) << 8) | (at(index + 2) << 16) | (at(index + 3) << 24);
    hash = Math.imul(rotateLeft(hash ^ mixBlock(block), 13), 5) + 0xe6546b64;
  }
  let tail = 0;
  for (let index = length - 1; index >= blockBytes; index--) tail = (tail << 8) | at(index);
  hash ^= mixBlock(tail) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** The bucket of a key among `buckets` equal ones, from 1 on. */
const bucketAmong = (key: string, groupId: string, buckets: number, seed: number): number =>
  (murmurHash(`${groupId}:${key}`, seed) % buckets) + 1;

const variantSeed = 86_028_157;

/** The bucket of a key in a rollout, from 1 to 100: the key is on when its bucket is at most the percentage. */
export const rolloutBucket = (key: string, groupId: string): number => bucketAmong(key, groupId, 100, 0);

/** The position of a key among the weights of variants, from 1 to their sum; independent of its rollout bucket. */
export const variantBucket = (key: string, groupId: string, totalWeight: number): number =>
  bucketAmong(key, groupId, totalWeight, variantSeed);
