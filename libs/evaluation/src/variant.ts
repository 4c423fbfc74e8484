import { type EvaluationContext, fieldValue, randomKey } from './constraint.ts';

const c1 = 0xcc9e2d51;
const c2 = 0x1b873593;

function rotateLeft(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
function mixBlock(value: number): number {
  return Math.imul(rotateLeft(Math.imul(value, c1), 15), c2);
}
function addBlock(hash: number, block: number): number {
  return Math.imul(rotateLeft(hash ^ mixBlock(block), 13), 5) + 0xe6546b64;
}

const encoder = new TextEncoder();

/** A text with one character for each byte of the UTF-8 of `text`. ASCII, as most keys are, is its own result. */
export function utf8Of(text: string): string {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) < 0x80) continue;
    let bytes = '';
    for (const byte of encoder.encode(text)) bytes += String.fromCharCode(byte);
    return bytes;
  }
  return text;
}

/** The state of a hash after a prefix: the hash of its whole blocks, and the bytes that follow these. */
export interface HashState {
  readonly hash: number;
  readonly block: number;
  readonly bits: number;
  /** the length of the prefix in bytes */
  readonly length: number;
}

/** The state of MurmurHash3 (x86, 32 bits) after the UTF-8 bytes of a prefix, which is hashed once for many texts. */
export function hashStateOf(prefix: string, seed = 0): HashState {
  const start = utf8Of(prefix);
  const blockBytes = start.length - (start.length % 4);
  let hash = seed;
  for (let index = 0; index < blockBytes; index += 4) {
    const block =
      start.charCodeAt(index) |
      (start.charCodeAt(index + 1) << 8) |
      (start.charCodeAt(index + 2) << 16) |
      (start.charCodeAt(index + 3) << 24);
    hash = addBlock(hash, block);
  }
  let rest = 0;
  for (let index = blockBytes; index < start.length; index++) {
    rest |= start.charCodeAt(index) << (8 * (index - blockBytes));
  }
  return { hash, block: rest, bits: 8 * (start.length - blockBytes), length: start.length };
}

/** The hash of a prefix, by the members of its state, and of a text that follows it as the result of `utf8Of`. */
export function hashAfter(hash: number, block: number, bits: number, length: number, utf8: string): number {
  for (let index = 0; index < utf8.length; index++) {
    block |= utf8.charCodeAt(index) << bits;
    bits += 8;
    if (bits < 32) continue;
    hash = addBlock(hash, block);
    block = 0;
    bits = 0;
  }
  hash ^= mixBlock(block) ^ (length + utf8.length);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Hashes texts that begin with the same prefix, as most server-side SDKs compute it. */
export function murmurHasher(prefix: string, seed = 0): (text: string) => number {
  const { hash, block, bits, length } = hashStateOf(prefix, seed);
  return (text) => hashAfter(hash, block, bits, length, utf8Of(text));
}

/** Returns the bucket of a key; the first bucket is 1. */
type BucketOf = (key: string) => number;

/** What precedes the key of a user in the text whose hash is the bucket. */
export function rolloutPrefix(groupId: string): string {
  return `${groupId}:`;
}

/** The bucket of a rollout, from 1 to 100. A rollout includes the keys whose bucket is at most its percentage. */
export function rolloutBucket(hash: number): number {
  return (hash % 100) + 1;
}

/** The buckets of the keys of users in the rollouts of a group, from 1 to 100: a rollout includes those up to its percentage. */
export function rolloutBuckets(groupId: string): BucketOf {
  const hash = murmurHasher(rolloutPrefix(groupId));
  return (key) => rolloutBucket(hash(key));
}

const variantSeed = 86_028_157;

/** Buckets of variants, from 1 to the sum of their weights; independent of the buckets of rollouts. */
function variantBuckets(groupId: string, totalWeight: number): BucketOf {
  const hash = murmurHasher(`${groupId}:`, variantSeed);
  return (key) => (hash(key) % totalWeight) + 1;
}

/** The variant that a user gets. */
export interface Variant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: EvaluableVariant['payload'];
}

/** The variant of a user who has none. */
export const noVariant: Variant = { name: 'disabled', enabled: false };

/** A variant as SDKs receive it. */
export interface EvaluableVariant {
  readonly name: string;
  readonly weight: number;
  readonly stickiness?: string | undefined;
  readonly payload?: { readonly type: string; readonly value: string } | undefined;
  readonly overrides?: readonly { readonly contextName: string; readonly values: readonly string[] }[] | undefined;
}

/** The text whose hash chooses the variant of a user. */
function stickyKey(stickiness: string, context: EvaluationContext): string {
  if (stickiness !== 'default') return fieldValue(context, stickiness) ?? randomKey(context);
  const fields = ['userId', 'sessionId', 'remoteAddress'];
  for (const field of fields) {
    const value = fieldValue(context, field);
    if (value !== undefined) return value;
  }
  return randomKey(context);
}

function toVariant({ name, payload }: EvaluableVariant): Variant {
  return payload === undefined ? { name, enabled: true } : { name, enabled: true, payload };
}

/**
 * Compiles the choice of a variant: the variant of the first override that matches the user, otherwise a variant by weight.
 * @returns a function that returns the same object for the same variant; undefined where no variant has weight
 */
export function compileVariants(
  variants: readonly EvaluableVariant[],
  groupId: string,
  stickiness: string,
): ((context: EvaluationContext) => Variant) | undefined {
  const totalWeight = variants.reduce((sum, { weight }) => sum + weight, 0);
  if (totalWeight <= 0) return undefined;
  const bucketOf = variantBuckets(groupId, totalWeight);
  let cumulativeWeight = 0;
  const compiled = variants.map((variant) => {
    cumulativeWeight += variant.weight;
    // Buckets begin at 1, so a variant without weight has none.
    return { lastBucket: variant.weight > 0 ? cumulativeWeight : 0, variant: toVariant(variant) };
  });
  const lastVariant = compiled.findLast(({ lastBucket }) => lastBucket > 0)?.variant as Variant;
  const overrides = variants.flatMap(({ overrides = [] }, index) =>
    overrides.map((override) => ({ ...override, variant: (compiled[index] as (typeof compiled)[number]).variant })),
  );
  return (context) => {
    for (const { contextName, values, variant } of overrides) {
      if (values.includes(fieldValue(context, contextName) ?? '')) return variant;
    }
    const bucket = bucketOf(stickyKey(stickiness, context));
    for (const { lastBucket, variant } of compiled) if (bucket <= lastBucket) return variant;
    return lastVariant;
  };
}
