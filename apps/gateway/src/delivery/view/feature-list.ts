import { compress, type Encoding } from '../../http/response/compression.ts';
import { type GzipPart, gzipPart, joinGzip } from '../../http/response/gzip-parts.ts';
import type { FeatureBlock } from './feature-blocks.ts';

/** A JSON text that lists features. */
export interface FeatureList {
  readonly blocks: readonly FeatureBlock[];
  /** what precedes the features */
  readonly jsonPrefix: string;
  /** what follows them */
  readonly jsonSuffix: string;
}

const comma = Buffer.from(',');

/** The length of a list in bytes, before compression. */
export const listLength = ({ blocks, jsonPrefix, jsonSuffix }: FeatureList): number =>
  blocks.reduce((sum, { length }) => sum + length, Math.max(0, blocks.length - 1)) +
  Buffer.byteLength(jsonPrefix) +
  Buffer.byteLength(jsonSuffix);

/** The text of a list in UTF-8. */
export const listBytes = ({ blocks, jsonPrefix, jsonSuffix }: FeatureList): Buffer =>
  Buffer.concat([
    Buffer.from(jsonPrefix),
    ...blocks.flatMap((block, nth) => (nth === 0 ? [block.bytes()] : [comma, block.bytes()])),
    Buffer.from(jsonSuffix),
  ]);

/** As many as Node.js by default has threads that compress: each compression that waits for a thread takes a quarter of a MiB of memory. */
const maxConcurrentBlocks = 4;

/** Compresses the blocks that have changed since they were last compressed. */
const compressBlocks = async (blocks: readonly FeatureBlock[]): Promise<readonly GzipPart[]> => {
  const parts: GzipPart[] = [];
  let next = 0;
  const compressNext = async (): Promise<void> => {
    for (let nth = next++; nth < blocks.length; nth = next++) parts[nth] = await (blocks[nth] as FeatureBlock).gzip();
  };
  await Promise.all(Array.from({ length: maxConcurrentBlocks }, compressNext));
  return parts;
};

/** A list in an encoding. With gzip only blocks that have changed are compressed again. */
export const compressList = async (list: FeatureList, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> => {
  if (encoding !== 'gzip') return compress(listBytes(list), encoding);
  const [jsonPrefix, jsonSuffix, separator] = await Promise.all(
    [list.jsonPrefix, list.jsonSuffix, ','].map((text) => gzipPart(Buffer.from(text))),
  );
  const parts = (await compressBlocks(list.blocks)).flatMap((part, nth) => (nth === 0 ? [part] : [separator, part]));
  return joinGzip([jsonPrefix, ...parts, jsonSuffix] as GzipPart[]);
};
