import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type GzipPart, gzipPart } from '../http/gzip-parts.ts';
import type { FeatureEntry } from './delivery-store.ts';

/** A run of features in a list, serialised once for as long as none of them changes. */
export interface FeatureBlock {
  readonly features: readonly FeatureEntry[];
  /** by feature: the position of its newest change */
  readonly positions: readonly number[];
  /** of the bytes: the JSON of the features, with commas between them */
  readonly hash: string;
  readonly length: number;
  /** The bytes. They are kept until they are compressed, and serialised again for clients that take no gzip. */
  bytes(): Buffer;
  gzip(): GzipPart | Promise<GzipPart>;
  /** the bytes that this keeps */
  readonly size: number;
}

interface Serialisation {
  readonly positionOf: (feature: FeatureEntry) => number;
  /** the JSON of a feature, in pieces */
  readonly piecesOf: (feature: FeatureEntry) => readonly string[];
}

/** The mean number of features in a block: a change costs the compression of so many, and each block compresses by itself. */
const meanLength = 128;
/** Blocks begin at the same names in every replica, and adding or removing a feature changes no block but its own. */
const beginsBlock = ({ name }: FeatureEntry): boolean => crc32(name) % meanLength === 0;

/** The bytes of many texts. Joined to one string first, they would be copied some times before they are encoded. */
const encoded = (texts: readonly string[]): Buffer => {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
};

const blockOf = (features: readonly FeatureEntry[], { positionOf, piecesOf }: Serialisation): FeatureBlock => {
  const serialise = (): Buffer => {
    const pieces: string[] = [];
    for (const feature of features) {
      if (pieces.length > 0) pieces.push(',');
      pieces.push(...piecesOf(feature));
    }
    return encoded(pieces);
  };
  let plain: Buffer | undefined = serialise();
  let compressed: GzipPart | Promise<GzipPart> | undefined;
  return {
    features,
    positions: features.map(positionOf),
    hash: hash('sha256', plain, 'hex'),
    length: plain.length,
    bytes: () => plain ?? serialise(),
    gzip: () => {
      if (compressed !== undefined) return compressed;
      const compressing = gzipPart(plain ?? serialise());
      compressed = compressing;
      compressing.then(
        (part) => {
          compressed = part;
          plain = undefined;
        },
        () => void (compressed = undefined),
      );
      return compressing;
    },
    get size() {
      const kept = compressed === undefined || compressed instanceof Promise ? 0 : compressed.deflated.length;
      return kept + (plain?.length ?? 0);
    },
  };
};

/** The blocks of a list of features, with those of before that none of their features has changed since. */
export const blocksOf = (
  features: Iterable<FeatureEntry>,
  before: readonly FeatureBlock[],
  serialisation: Serialisation,
): readonly FeatureBlock[] => {
  const known = new Map(before.map((block) => [block.features[0], block]));
  const blocks: FeatureBlock[] = [];
  let run: FeatureEntry[] = [];
  const end = (): void => {
    if (run.length === 0) return;
    const block = known.get(run[0]);
    const isSame =
      block?.features.length === run.length &&
      run.every(
        (feature, nth) => feature === block.features[nth] && serialisation.positionOf(feature) === block.positions[nth],
      );
    blocks.push(block !== undefined && isSame ? block : blockOf(run, serialisation));
    run = [];
  };
  for (const feature of features) {
    if (beginsBlock(feature)) end();
    run.push(feature);
  }
  end();
  return blocks;
};
