import { hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { maxSegmentListBytes } from './strategies/segment-lists.ts';

/** A block under its hash: as it is stored and sent. */
export interface StoredBlock {
  /** SHA-256 of what the content says */
  readonly hash: Buffer;
  readonly content: Buffer;
}

/** The bytes of a hash. */
export const hashBytes = 32;
/** The number of ids, and the bytes of ids, that a block is meant to have: one change of a list replaces about as many. */
const meanBlockSize = 1_000;
const meanBlockBytes = 64 * 1024;
/** Blocks are divided anew where they have become so many times larger or smaller than meant, and not at each change around a limit. */
const tolerance = 4;

/**
 * The number of blocks for ids, a power of two.
 * @param size the number of ids
 * @param bytes of the ids, each with a line break
 * @param before the number of blocks that the list has
 */
export function blockCountFor(size: number, bytes: number, before?: number): number {
  const meant = Math.max(size / meanBlockSize, bytes / meanBlockBytes);
  if (before !== undefined && meant <= before * tolerance) {
    if (before === 1 || meant * tolerance >= before) return before;
  }
  return 2 ** Math.ceil(Math.log2(Math.max(1, meant)));
}

/** The hash under which a block is stored, of the bytes that it says. */
export function hashOfBlock(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/** In these, the order of UTF-16 units may differ from that of the bytes of UTF-8. */
const hasHighUnit = /[\ud800-\uffff]/;

/** Sorts ids by their bytes in UTF-8, and leaves out those that come again. */
export function sortedIds(ids: Iterable<string>): string[] {
  const sorted = [...new Set(ids)].sort();
  if (!sorted.some((id) => hasHighUnit.test(id))) return sorted;
  return sorted.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

/** The block of ids. @param ids as `sortedIds` returns them */
export function encodeIdBlock(ids: readonly string[]): StoredBlock {
  const text = Buffer.from(ids.map((id) => `${id}\n`).join(''));
  return { hash: hashOfBlock(text), content: deflateRawSync(text, { level: 1 }) };
}

/** What the content of a block of ids says, which nothing has compared with a hash. @throws Error where it is none */
export function inflateIdBlock(content: Uint8Array): Buffer {
  return inflateRawSync(content, { maxOutputLength: maxSegmentListBytes });
}

/**
 * What a block of ids says: the ids in UTF-8, each followed by a line break.
 * @throws Error where the content is not that of the hash
 */
export function decodeIdBlock({ hash: expected, content }: StoredBlock): Uint8Array {
  const text = inflateIdBlock(content);
  if (!hashOfBlock(text).equals(expected))
    throw new Error(`A block of a list differs from its hash ${expected.toString('hex')}.`);
  // A copy of the exact length: the result may be a part of a larger buffer.
  return new Uint8Array(text);
}

/** The ids of a block that `decodeIdBlock` returned. */
export function idsOfBlock(text: Uint8Array): string[] {
  const lines = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString().split('\n');
  lines.pop();
  return lines;
}

/** The block that lists the blocks of a list, in the order of `blockOfId`. */
export function encodeRootBlock(hashes: readonly Buffer[]): StoredBlock {
  const content = Buffer.concat(hashes);
  return { hash: hashOfBlock(content), content };
}

/** The hashes of the blocks of a list. @throws Error where the content is not that of the hash */
export function decodeRootBlock({ hash: expected, content }: StoredBlock): readonly Buffer[] {
  if (!hashOfBlock(content).equals(expected))
    throw new Error(`The blocks of a list differ from their hash ${expected.toString('hex')}.`);
  return hashesOfRoot(content);
}

/** The hashes in a block that lists blocks, which nothing has compared with a hash. */
export function hashesOfRoot(content: Buffer): readonly Buffer[] {
  return Array.from({ length: content.length / hashBytes }, (_, nth) =>
    content.subarray(nth * hashBytes, (nth + 1) * hashBytes),
  );
}
