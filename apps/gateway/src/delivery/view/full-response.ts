import { type DeliveryScope, scopeAsQuery } from '@bunting/contracts';
import { hash } from 'node:crypto';
import { type Encoding, entityTagSuffixOf, withoutEntityTagSuffix } from '../../http/response/compression.ts';
import type { FeatureBlock } from './feature-blocks.ts';
import { compressList, type FeatureList, listBytes, listLength } from './feature-list.ts';
import { type ByEncoding } from './make-once.ts';

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

export const scopeQueryOf = (scope: DeliveryScope): ScopeQuery => {
  const json = JSON.stringify(scopeAsQuery(scope));
  return { json, hash: hash('sha256', json, 'hex').slice(0, 8) };
};

/** The entity tag of a full response, as `<hash of the scope>:<hash of the content>:<revision>`, without the suffix of its encoding. */
const responseEntityTagPattern = /^([0-9a-f]{8}):([0-9a-f]{32}):(\d{1,15})$/;

/** The parts of the tag of a full response, of any encoding; undefined each where it is no such tag. */
export const parseResponseTag = (tag: string) => {
  const [, scopeHash, contentHash, revision] = responseEntityTagPattern.exec(withoutEntityTagSuffix(tag)) ?? [];
  return { scopeHash, contentHash, revision };
};

/**
 * The content of a scope at a revision, from the blocks of its features.
 * A content that was changed and changed back is made again: clients must never be taken back to the revision that it had before.
 * @param segments the segments as a JSON list without its brackets; undefined where they are inlined
 */
export const fullContentAt = (
  { revision, epoch }: { readonly revision: number; readonly epoch: number },
  { blocks, segments }: { readonly blocks: readonly FeatureBlock[]; readonly segments: string | undefined },
  query: ScopeQuery,
): FullContent => {
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
};

/** Encodes a full response. */
export const represent = async (
  { list, tag, revision }: FullContent,
  { hash: queryHash }: ScopeQuery,
  encoding: Encoding,
): Promise<Representation> => {
  const etag = `"${tag}${entityTagSuffixOf[encoding]}"`;
  const meta = JSON.stringify({ revisionId: revision, etag, queryHash });
  const listWithMeta = { ...list, jsonSuffix: `${list.jsonSuffix},"meta":${meta}}` };
  const body = encoding === 'identity' ? listBytes(listWithMeta) : await compressList(listWithMeta, encoding);
  return { etag, encoding, body };
};
