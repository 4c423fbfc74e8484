const c1 = 0xcc9e2d51;
const c2 = 0x1b873593;

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
const mixed = (value: number): number => Math.imul(rotated(Math.imul(value, c1), 15), c2);

const utf8 = new TextEncoder();

/** Its bytes as UTF-8; plain ASCII, which nearly every key is, is read where it is. */
const byteReader = (text: string): { readonly length: number; readonly at: (index: number) => number } => {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) < 0x80) continue;
    const bytes = utf8.encode(text);
    return { length: bytes.length, at: (nth) => bytes[nth] as number };
  }
  return { length: text.length, at: (nth) => text.charCodeAt(nth) };
};

/** MurmurHash3 (x86, 32 bits) of a text as UTF-8: by it every SDK puts the same user on the same side. */
export const murmurHash = (text: string, seed = 0): number => {
  const { length, at } = byteReader(text);
  const whole = length - (length % 4);
  let hash = seed;
  for (let index = 0; index < whole; index += 4) {
    const block = at(index) | (at(index + 1) << 8) | (at(index + 2) << 16) | (at(index + 3) << 24);
    hash = Math.imul(rotated(hash ^ mixed(block), 13), 5) + 0xe6546b64;
  }
  let rest = 0;
  for (let index = length - 1; index >= whole; index--) rest = (rest << 8) | at(index);
  hash ^= mixed(rest) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** Where a key stands among so many equal parts, from 1 on. */
const partOf = (key: string, groupId: string, parts: number, seed: number): number =>
  (murmurHash(`${groupId}:${key}`, seed) % parts) + 1;

const variantSeed = 86_028_157;

/** In which percent of all keys of a group a key is, from 1 to 100. */
export const percentOf = (key: string, groupId: string): number => partOf(key, groupId, 100, 0);

/** Where a key stands among the weights of variants, from 1 to their sum: apart from where it stands in a rollout. */
export const weightOf = (key: string, groupId: string, weights: number): number =>
  partOf(key, groupId, weights, variantSeed);
