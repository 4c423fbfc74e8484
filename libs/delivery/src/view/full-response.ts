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
import { type FeatureEntry, featureLength, type FeatureTexts, writeFeature } from '../store/feature-entries.ts';
import { comma, compressList, type FeatureList, listBytes, listLength, type ScopeReader } from './delivery-view.ts';

/** A full response in one encoding. Each encoding has its own entity tag (RFC 9110, 8.8.3). */
export interface Representation {
  /** with its quotes */
  readonly etag: string;
  readonly encoding: Encoding;
  readonly body: Buffer;
  /** the bytes of the body that stay in memory */
  readonly keptBytes: number;
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

/** The uncompressed body of a response. */
export interface PlainBody {
  readonly read: () => Buffer;
  /** the bytes of it that stay in memory */
  readonly keptBytes: number;
}

/** A longer body is kept only until the garbage is collected, as the texts that it is made of are in memory too. */
const maxKeptBody = 4 * 1024 * 1024;

/** @param make makes the body, and must return the same whenever it is called */
export function plainBody(make: () => Buffer, length: number): PlainBody {
  if (length <= maxKeptBody) {
    const made = make();
    return { read: () => made, keptBytes: length };
  }
  // The buffer itself is shared, not only its memory: responses that are not read are counted by it, and it stays while one of them waits.
  let body: WeakRef<Buffer> | undefined;
  return {
    read: () => {
      const kept = body?.deref();
      if (kept !== undefined) return kept;
      const made = make();
      body = new WeakRef(made);
      return made;
    },
    keptBytes: 0,
  };
}

/** Encodes a full response. */
export function represent(
  { list, tag, revision }: FullContent,
  { hash: queryHash }: ScopeQuery,
  encoding: Encoding,
): Representation | Promise<Representation> {
  const etag = `"${tag}${entityTagSuffixOf[encoding]}"`;
  const meta = JSON.stringify({ revisionId: revision, etag, queryHash });
  const listWithMeta = { ...list, jsonSuffix: `${list.jsonSuffix},"meta":${meta}}` };
  if (encoding !== 'identity')
    return compressList(listWithMeta, encoding).then((body) => ({ etag, encoding, body, keptBytes: body.length }));
  const plain = plainBody(() => listBytes(listWithMeta), listLength(listWithMeta));
  return {
    etag,
    encoding,
    keptBytes: plain.keptBytes,
    get body() {
      return plain.read();
    },
  };
}

/** A run of features in a list, serialised once for as long as none of them changes. */
export interface FeatureBlock {
  readonly features: readonly FeatureEntry[];
  /** by feature: the position of its newest change */
  readonly positions: readonly number[];
  /** of the bytes: the JSON of the features, with commas between them */
  readonly hash: string;
  readonly length: number;
  /** Writes the JSON. @returns the offset after it */
  write(bytes: Buffer, offset: number): number;
  /** What the JSON is made of, as of now. */
  texts(): readonly FeatureTexts[];
  /**
   * Reads what there is to compress, and returns the function that compresses it.
   * @param before the block that precedes this one in the list, to whose texts it refers
   */
  gzip(
    before: FeatureBlock | undefined,
  ): (buffers: { readonly own: Scratch; readonly before: Scratch }) => GzipPart | Promise<GzipPart>;
  /** the size of the cached bytes */
  readonly size: number;
}

type Serialisation = Pick<ScopeReader, 'contentPositionOf' | 'textsOf'>;

/** The mean number of features in a block. A change compresses a block and the next one again. */
const meanLength = 128;
/** Blocks begin at the same names in every replica, and adding or removing a feature changes no block but its own. */
function beginsBlock({ name }: FeatureEntry): boolean {
  return crc32(name) % meanLength === 0;
}

const commaByte = 0x2c;

/** The length of features as JSON with commas between them, in bytes. */
function lengthOf(texts: readonly FeatureTexts[]): number {
  return texts.reduce((sum, feature) => sum + featureLength(feature), Math.max(0, texts.length - 1));
}
function write(texts: readonly FeatureTexts[], bytes: Buffer, start: number): number {
  let offset = start;
  for (let nth = 0; nth < texts.length; nth++) {
    if (nth > 0) bytes[offset++] = commaByte;
    offset = writeFeature(texts[nth] as FeatureTexts, bytes, offset);
  }
  return offset;
}

/** A buffer that is used for one text after the other: many buffers would leave their memory with the process. */
export interface Scratch {
  readonly encode: (texts: readonly FeatureTexts[], after?: Buffer) => Buffer;
}

/** Each result is good until the next one is made. */
export function scratch(): Scratch {
  let buffer = Buffer.alloc(0);
  return {
    encode: (texts, after = Buffer.alloc(0)) => {
      const length = lengthOf(texts) + after.length;
      if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(2 * length);
      after.copy(buffer, write(texts, buffer, 0));
      return buffer.subarray(0, length);
    },
  };
}

/** What precedes the features after these, as far as deflate refers back. */
function windowAfter(texts: readonly FeatureTexts[], { encode }: Scratch): Buffer {
  let [first, length] = [texts.length, 0];
  while (first > 0 && length < gzipWindow) length += featureLength(texts[--first] as FeatureTexts) + 1;
  return encode(texts.slice(first), comma).subarray(-gzipWindow);
}

/** The bytes are made when they are needed, and not kept: those of all blocks would be as long as an uncompressed response. */
function blockOf(features: readonly FeatureEntry[], serialisation: Serialisation, { encode }: Scratch): FeatureBlock {
  const texts = (): readonly FeatureTexts[] => features.map(serialisation.textsOf);
  let compressed: GzipPart | Promise<GzipPart> | undefined;
  /** the hash of the block that `compressed` was made to follow */
  let compressedAfter: string | undefined;
  const bytes = encode(texts());
  return {
    features,
    positions: features.map(serialisation.contentPositionOf),
    hash: hash('sha256', bytes, 'hex'),
    length: bytes.length,
    write: (target, offset) => write(texts(), target, offset),
    texts,
    gzip: (before) => {
      const cachedAfter = (): GzipPart | Promise<GzipPart> | undefined =>
        compressedAfter === before?.hash ? compressed : undefined;
      const cached = cachedAfter();
      if (cached !== undefined) return () => cached;
      const [own, preceding] = [texts(), before?.texts()];
      return (buffers) => {
        // Another response with this block may have begun to compress it meanwhile.
        const shared = cachedAfter();
        if (shared !== undefined) return shared;
        const compressing = gzipPart(buffers.own.encode(own), preceding && windowAfter(preceding, buffers.before));
        compressed = compressing;
        compressedAfter = before?.hash;
        /** Keeps the result, unless the block is meanwhile compressed to follow another one. */
        const keep = (part: GzipPart | undefined): void => {
          if (compressed === compressing) compressed = part;
        };
        compressing.then(keep, () => keep(undefined));
        return compressing;
      };
    },
    get size() {
      return compressed === undefined || compressed instanceof Promise ? 0 : compressed.deflated.length;
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
  const buffer = scratch();
  return runs.map(({ run, block }) => block ?? blockOf(run, serialisation, buffer));
}

/** What was made in each encoding, or is being made. */
export type ByEncoding<T> = Partial<Record<Encoding, T | Promise<T>>>;

/** Returns the cached value, or makes it once for all concurrent callers. A failure is not cached. */
export function makeOnce<T>(
  cache: ByEncoding<T>,
  encoding: Encoding,
  make: () => T | Promise<T>,
  onMade: () => void = () => undefined,
): T | Promise<T> {
  const cached = cache[encoding];
  if (cached !== undefined) return cached;
  const making = make();
  cache[encoding] = making;
  if (!(making instanceof Promise)) {
    onMade();
    return making;
  }
  making.then(
    (value) => {
      cache[encoding] = value;
      onMade();
    },
    () => void delete cache[encoding],
  );
  return making;
}
