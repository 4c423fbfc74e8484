import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type DeliveryScope, scopeAsQuery } from '@bunting/contracts';
import {
  type Encoding,
  entityTagSuffixOf,
  type GzipPart,
  gzipPart,
  gzipWindow,
  withoutEntityTagSuffix,
} from '@bunting/http';
import type { FeatureEntry } from '../store/feature-entries.ts';
import { comma, compressList, type FeatureList, listBytes, listLength, type ScopeReader } from './delivery-view.ts';

/** A full response in one encoding. Each encoding has its own entity tag (RFC 9110, 8.8.3). */
export interface Representation {
  /** with its quotes */
  readonly etag: string;
  readonly encoding: Encoding;
  readonly body: Buffer;
}

/** The full response to a scope, before it is encoded. */
export interface FullContent {
  readonly hash: string;
  /** the tag that all encodings share, without its quotes */
  readonly tag: string;
  /** the newest revision of the scope; it is part of the tag, and `meta` names it in every encoding */
  readonly revision: number;
  readonly length: number;
  readonly list: FeatureList;
  /** each made when it is first requested */
  readonly representations: ByEncoding<Representation>;
  /** the epoch of the store in which the revision counts */
  readonly epoch: number;
}

/** The scope as its responses describe it. */
export interface ScopeQuery {
  readonly json: string;
  readonly hash: string;
}

export function scopeQueryOf(scope: DeliveryScope): ScopeQuery {
  const json = JSON.stringify(scopeAsQuery(scope));
  return { json, hash: hash('sha256', json, 'hex').slice(0, 8) };
}

/** The entity tag of a full response, as `<hash of the scope>:<hash of the content>:<revision>`, without the suffix of its encoding. */
const responseEntityTagPattern = /^([0-9a-f]{8}):([0-9a-f]{32}):(\d{1,15})$/;

/** The parts of the tag of a full response, of any encoding; undefined each where it is no such tag. */
export function parseResponseTag(tag: string) {
  const [, scopeHash, contentHash, revision] = responseEntityTagPattern.exec(withoutEntityTagSuffix(tag)) ?? [];
  return { scopeHash, contentHash, revision };
}

/**
 * The content of a scope at a revision, from the blocks of its features.
 * A content that was changed and changed back is made again: clients must never be taken back to the revision that it had before.
 * @param segments the segments as a JSON list without its brackets; undefined where they are inlined
 */
export function fullContentAt(
  { revision, epoch }: { readonly revision: number; readonly epoch: number },
  { blocks, segments }: { readonly blocks: readonly FeatureBlock[]; readonly segments: string | undefined },
  query: ScopeQuery,
): FullContent {
  const list = {
    blocks,
    jsonPrefix: '{"version":2,"features":[',
    jsonSuffix: `],${segments === undefined ? '' : `"segments":[${segments}],`}"query":${query.json}`,
  };
  const hashes = blocks.map((block) => block.hash).join();
  const contentHash = hash('sha256', `${hashes} ${list.jsonSuffix}`, 'hex').slice(0, 32);
  return {
    hash: contentHash,
    tag: `${query.hash}:${contentHash}:${revision}`,
    revision,
    length: listLength(list),
    list,
    epoch,
    representations: {},
  };
}

/** Encodes a full response. */
export async function represent(
  { list, tag, revision }: FullContent,
  { hash: queryHash }: ScopeQuery,
  encoding: Encoding,
): Promise<Representation> {
  const etag = `"${tag}${entityTagSuffixOf[encoding]}"`;
  const meta = JSON.stringify({ revisionId: revision, etag, queryHash });
  const listWithMeta = { ...list, jsonSuffix: `${list.jsonSuffix},"meta":${meta}}` };
  const body = encoding === 'identity' ? listBytes(listWithMeta) : await compressList(listWithMeta, encoding);
  return { etag, encoding, body };
}

/** A run of features in a list, serialised once for as long as none of them changes. */
export interface FeatureBlock {
  readonly features: readonly FeatureEntry[];
  /** by feature: the position of its newest change */
  readonly positions: readonly number[];
  /** of the bytes: the JSON of the features, with commas between them */
  readonly hash: string;
  readonly length: number;
  /** The bytes, cached until they are compressed. Later calls, for clients without gzip, serialise them again. */
  bytes(): Buffer;
  /**
   * Reads what there is to compress, and returns the function that compresses it.
   * @param before the block that precedes this one in the list, to whose texts it refers
   */
  gzip(before: FeatureBlock | undefined): () => GzipPart | Promise<GzipPart>;
  /** the size of the cached bytes */
  readonly size: number;
}

type Serialisation = Pick<ScopeReader, 'contentPositionOf' | 'piecesOf'>;

/** The mean number of features in a block. A change compresses a block and the next one again. */
const meanLength = 128;
/** Blocks begin at the same names in every replica, and adding or removing a feature changes no block but its own. */
function beginsBlock({ name }: FeatureEntry): boolean {
  return crc32(name) % meanLength === 0;
}

/** The features as JSON with commas between them, in pieces. */
function piecesOfRun(features: readonly FeatureEntry[], { piecesOf }: Serialisation): readonly string[] {
  return features.flatMap((feature, nth) => (nth === 0 ? piecesOf(feature) : [',', ...piecesOf(feature)]));
}

/**
 * The bytes of each text, which is given in pieces. All texts share one buffer, because the process does not return the memory of many
 * small buffers to the system. The pieces are not joined to one string, which would copy them several times before they are encoded.
 */
function encode(texts: readonly (readonly string[])[]): readonly Buffer[] {
  const lengths = texts.map((pieces) => pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
  let offset = 0;
  return texts.map((pieces) => {
    const from = offset;
    for (const piece of pieces) offset += bytes.write(piece, offset);
    return bytes.subarray(from, offset);
  });
}

function blockOf(features: readonly FeatureEntry[], bytes: Buffer, serialisation: Serialisation): FeatureBlock {
  let plain: Buffer | undefined = bytes;
  const serialised = (): Buffer => plain ?? (encode([piecesOfRun(features, serialisation)])[0] as Buffer);
  let compressed: GzipPart | Promise<GzipPart> | undefined;
  /** the hash of the block that `compressed` was made to follow */
  let compressedAfter: string | undefined;
  return {
    features,
    positions: features.map(serialisation.contentPositionOf),
    hash: hash('sha256', bytes, 'hex'),
    length: bytes.length,
    bytes: serialised,
    gzip: (before) => {
      const cachedAfter = (): GzipPart | Promise<GzipPart> | undefined =>
        compressedAfter === before?.hash ? compressed : undefined;
      const cached = cachedAfter();
      if (cached !== undefined) return () => cached;
      const [own, preceding] = [serialised(), before?.bytes()];
      return () => {
        // Another response with this block may have begun to compress it meanwhile.
        const shared = cachedAfter();
        if (shared !== undefined) return shared;
        const compressing = gzipPart(own, preceding && Buffer.concat([preceding.subarray(-gzipWindow), comma]));
        compressed = compressing;
        compressedAfter = before?.hash;
        /** Keeps the result, unless the block is meanwhile compressed to follow another one. */
        const keep = (part: GzipPart | undefined): void => {
          if (compressed === compressing) compressed = part;
        };
        compressing.then(
          (part) => {
            keep(part);
            plain = undefined;
          },
          () => keep(undefined),
        );
        return compressing;
      };
    },
    get size() {
      const gzipBytes = compressed === undefined || compressed instanceof Promise ? 0 : compressed.deflated.length;
      return gzipBytes + (plain?.length ?? 0);
    },
  };
}

/** Divides the features into runs, each of which becomes a block. */
function runsOf(features: Iterable<FeatureEntry>): FeatureEntry[][] {
  const runs: FeatureEntry[][] = [];
  for (const feature of features) {
    const run = runs.at(-1);
    if (run === undefined || beginsBlock(feature)) runs.push([feature]);
    else run.push(feature);
  }
  return runs;
}

/** The blocks of a list of features. Reuses those of the blocks before whose features are the same and have not changed. */
export function updateFeatureBlocks(
  features: Iterable<FeatureEntry>,
  before: readonly FeatureBlock[],
  serialisation: Serialisation,
): readonly FeatureBlock[] {
  const byFirst = new Map(before.map((block) => [block.features[0], block]));
  const isSame = (block: FeatureBlock, run: readonly FeatureEntry[]): boolean =>
    block.features.length === run.length &&
    run.every(
      (feature, nth) =>
        feature === block.features[nth] && serialisation.contentPositionOf(feature) === block.positions[nth],
    );
  const runs = runsOf(features).map((run) => {
    const block = byFirst.get(run[0]);
    return { run, block: block !== undefined && isSame(block, run) ? block : undefined };
  });
  const changedRuns = runs.filter(({ block }) => block === undefined).map(({ run }) => run);
  const texts = encode(changedRuns.map((run) => piecesOfRun(run, serialisation)));
  const newBlocks = new Map(changedRuns.map((run, nth) => [run, blockOf(run, texts[nth] as Buffer, serialisation)]));
  return runs.map(({ run, block }) => block ?? (newBlocks.get(run) as FeatureBlock));
}

/** What was made in each encoding, or is being made. */
export type ByEncoding<T> = Partial<Record<Encoding, T | Promise<T>>>;

/** Returns the cached value, or makes it once for all concurrent callers. A failure is not cached. */
export function makeOnce<T>(
  cache: ByEncoding<T>,
  encoding: Encoding,
  make: () => Promise<T>,
  onMade: () => void = () => undefined,
): T | Promise<T> {
  const cached = cache[encoding];
  if (cached !== undefined) return cached;
  const making = make();
  cache[encoding] = making;
  making.then(
    (value) => {
      cache[encoding] = value;
      onMade();
    },
    () => void delete cache[encoding],
  );
  return making;
}
