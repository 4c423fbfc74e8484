import type { ClientSegmentBlocks, ClientStrategy, DeliveryScope } from '@bunting/contracts';
import { compress, type Encoding, entityTagSuffixOf, type GzipPart, gzipPart, joinGzip } from '@bunting/http';
import type { IdBlock } from '@bunting/evaluation';
import type { DeliveryStore, FormerFeature, SegmentEntry } from '../store/delivery-store.ts';
import { type EnvironmentPart, type FeatureEntry, featureJson, type FeatureTexts } from '../store/feature-entries.ts';
import { type Delta, deltaAfter, deltaCache, encodeDelta, hydrationAt } from './delta.ts';
import {
  type FeatureBlock,
  type FullContent,
  fullContentAt,
  makeOnce,
  parseResponseTag,
  represent,
  type Representation,
  scopeQueryOf,
  scratch,
  updateFeatureBlocks,
} from './full-response.ts';
import {
  deliveredPositions,
  evaluatedPositions,
  type Positions,
  type ScopeRevision,
  scopeRevision,
} from './scope-revision.ts';

/** The JSON of a part with the constraints of its segments in the strategies, for SDKs without support for segments. */
function withInlinedSegments({ json }: EnvironmentPart, store: DeliveryStore): string {
  const part = JSON.parse(json) as { readonly strategies: readonly ClientStrategy[] };
  const strategies = part.strategies.map(({ segments = [], constraints, ...strategy }) => ({
    ...strategy,
    constraints: [
      ...constraints,
      ...segments.flatMap((id) => JSON.parse(`[${store.segment(id)?.constraints ?? ''}]`) as typeof constraints),
    ],
  }));
  return JSON.stringify({ ...part, strategies });
}

type ClientBlock = ClientSegmentBlocks['blocks'][number];

/** Reads from the delivery store what belongs to a scope, in the form in which its clients get it. */
function scopeReader(
  store: DeliveryStore,
  { environment, inlineSegments, listsByReference }: DeliveryScope,
  { isVisible, hasLeftScope, formerConcernsScope }: ScopeFilter,
  positionOf: Positions['ofFeature'],
  { usedSegmentIds, segmentsLeft }: Pick<ScopeRevision, 'usedSegmentIds' | 'segmentsLeft'>,
) {
  /** What the JSON of a feature is made of. */
  const textsOf = (feature: FeatureEntry): FeatureTexts => {
    const part = store.partOf(feature, environment);
    const isInlined = inlineSegments && part.segments.length > 0;
    return [feature.common, isInlined ? withInlinedSegments(part, store) : part.json, feature.dependencies];
  };

  /** A segment as JSON; undefined where it is deleted. */
  const segmentJson = ({ json, referenceJson }: SegmentEntry): string | undefined =>
    listsByReference === true ? referenceJson : json;

  return {
    isVisible,
    hasLeftScope,
    formerConcernsScope,
    /** the ids of the segments that visible features use */
    usedSegmentIds,
    segmentsLeft,
    /** The position of the newest change of a feature in the environment of the scope. */
    positionOf,
    /** The position of the newest change of what a client gets of a feature. */
    contentPositionOf: (feature: FeatureEntry): number =>
      inlineSegments
        ? store
            .partOf(feature, environment)
            .segments.reduce((newest, id) => Math.max(newest, store.segment(id)?.position ?? 0), positionOf(feature))
        : positionOf(feature),
    segmentIdsOf: (feature: FeatureEntry): readonly number[] => store.partOf(feature, environment).segments,
    textsOf,
    jsonOf: (feature: FeatureEntry): string => featureJson(textsOf(feature)),
    /** The features of the scope, in the order of their names. */
    *visibleFeatures(): Generator<FeatureEntry> {
      for (const feature of store.features()) if (isVisible(feature)) yield feature;
    },
    segmentJson,
    /** The segments that the features use, as a JSON list without its brackets. */
    segmentList: (): string =>
      [...usedSegmentIds()]
        .sort((one, other) => one - other)
        .flatMap((id) => {
          const segment = store.segment(id);
          return (segment === undefined ? undefined : segmentJson(segment)) ?? [];
        })
        .join(','),
    /** Those of the wanted blocks that the lists of these segments have, or had a short while ago, each once. */
    *blocksAmong(wanted: Iterable<string>): Generator<ClientBlock> {
      const left = new Set(wanted);
      for (const id of usedSegmentIds()) {
        const { list, formerLists = [] } = store.segment(id) ?? {};
        for (const { root, ids } of [...(list === undefined ? [] : [list]), ...formerLists]) {
          if (left.size === 0) return;
          if (ids === undefined) continue;
          const { hashes, blocks } = ids;
          if (left.delete(root)) yield { hash: root, text: hashes.map((hash) => `${hash}\n`).join('') };
          for (const [nth, hash] of hashes.entries())
            if (left.delete(hash)) yield { hash, text: Buffer.from((blocks[nth] as IdBlock).text).toString() };
        }
      }
    },
  };
}
export type ScopeReader = ReturnType<typeof scopeReader>;

export interface ScopeFilter {
  readonly isVisible: (feature: FeatureEntry) => boolean;
  /** Whether clients of the scope may still have a feature that is no longer visible. */
  readonly hasLeftScope: (feature: FeatureEntry) => boolean;
  /** Whether clients of the scope may still have a feature of a project that it has left. */
  readonly formerConcernsScope: (former: FormerFeature) => boolean;
  /** Whether clients of the scope can notice a change of the feature. */
  readonly concernsScope: (feature: FeatureEntry) => boolean;
}

/** Which features a scope includes, and which of the others its clients may still have. */
function scopeFilter(
  store: DeliveryStore,
  { projects, deletedProjects = [], namePrefix = '', tags }: DeliveryScope,
): ScopeFilter {
  const scopeProjects = projects === undefined ? undefined : new Set(projects);
  const scopeTags = tags === undefined ? undefined : new Set(tags.map(({ type, value }) => `${type}:${value}`));
  const mayHaveProject = (project: string): boolean => scopeProjects === undefined || scopeProjects.has(project);
  const mayHaveHadProject = (project: string): boolean => mayHaveProject(project) || deletedProjects.includes(project);
  const hasPrefix = ({ name }: { readonly name: string }): boolean => name.startsWith(namePrefix);
  const isVisible = (feature: FeatureEntry): boolean =>
    !feature.isArchived &&
    mayHaveProject(feature.project) &&
    hasPrefix(feature) &&
    (scopeTags === undefined || feature.tags.some((tag) => scopeTags.has(tag)));
  const concernsScope = (feature: FeatureEntry): boolean =>
    hasPrefix(feature) &&
    (mayHaveProject(feature.project) || (feature.isArchived && mayHaveHadProject(feature.project)));
  return {
    isVisible,
    concernsScope,
    hasLeftScope: (feature) => concernsScope(feature) && !isVisible(feature),
    formerConcernsScope: ({ name, project }: FormerFeature) =>
      mayHaveHadProject(project) && name.startsWith(namePrefix) && store.feature(name)?.project !== project,
  };
}

/** Whether a client may have a revision that the store does not have yet: from another replica, not from a history that is lost. */
export type MayBeLater = (revision: number) => boolean;

const never: MayBeLater = () => false;

/** Estimated bytes of a cached view besides its bodies. */
const viewOverheadBytes = 1_000;

/** The size of the cached bytes of full responses. Promises of representations and bodies that are still being made count nothing. */
function cachedBytesOf(content: FullContent | undefined, hydration: Delta | undefined): number {
  let sum = hydration?.keptBytes ?? 0;
  for (const cached of Object.values(content?.representations ?? {}))
    if ('keptBytes' in cached) sum += cached.keptBytes;
  for (const cached of Object.values(hydration?.encoded ?? {})) if (Buffer.isBuffer(cached)) sum += cached.length;
  return sum;
}

/**
 * The state that one scope gets from the delivery store: its features, segments, full responses and deltas. A read first applies the
 * changes of the store. Changes that the scope cannot notice invalidate nothing, cached bytes included.
 * @param onResize called after the size of the cached bytes has changed
 */
export function deliveryView(store: DeliveryStore, scope: DeliveryScope, onResize: () => void = () => undefined) {
  const filter = scopeFilter(store, scope);
  const positions = deliveredPositions(store, scope, filter);
  const latest = scopeRevision(store, scope.environment, filter, positions);
  const reader = scopeReader(store, scope, filter, positions.ofFeature, latest);
  let evaluated: ScopeRevision | undefined;
  const query = scopeQueryOf(scope);
  let content: FullContent | undefined;
  let blocks: readonly FeatureBlock[] = [];
  let hydration: Delta | undefined;
  const deltas = deltaCache();

  const update = (): void => {
    if (!latest.update()) return;
    hydration = undefined;
    deltas.clear();
  };
  const featureBlocks = (): readonly FeatureBlock[] =>
    (blocks = updateFeatureBlocks(reader.visibleFeatures(), blocks, reader));

  const currentContent = (): FullContent => {
    update();
    if (content?.revision === latest.revision && content.epoch === latest.epoch) return content;
    const segments = scope.inlineSegments ? undefined : reader.segmentList();
    return (content = fullContentAt(latest, { blocks: featureBlocks(), segments }, query));
  };

  const view = {
    scope,
    /** The newest revision that the scope can notice. */
    revision: (): number => {
      update();
      return latest.revision;
    },
    /** The newest revision that may have changed a result for a user. */
    evaluatedRevision: (): number => {
      evaluated ??= scopeRevision(store, scope.environment, filter, evaluatedPositions(store, scope));
      evaluated.update();
      return evaluated.revision;
    },
    /** the length of the full response in bytes, before compression */
    get length(): number {
      return currentContent().length;
    },
    /** Whether a tag, of any encoding, is that of the current full response. */
    isCurrent: (tag: string): boolean => {
      const current = currentContent();
      if (tag === current.tag) return true;
      const { scopeHash, contentHash } = parseResponseTag(tag);
      return scopeHash === query.hash && contentHash === current.hash;
    },
    /** Whether a tag is from a replica that had applied later changes of the scope than this one has. */
    isLater: (tag: string, mayBeLater: MayBeLater): boolean => {
      const parsed = parseResponseTag(tag);
      const revision = Number(parsed.revision);
      update();
      return (
        parsed.scopeHash === query.hash &&
        revision > latest.revision &&
        revision >= store.hydratesBelow &&
        mayBeLater(revision)
      );
    },
    etag: (encoding: Encoding): string => `"${currentContent().tag}${entityTagSuffixOf[encoding]}"`,
    full: (encoding: Encoding): Representation | Promise<Representation> => {
      const current = currentContent();
      return makeOnce(current.representations, encoding, () => represent(current, query, encoding), onResize);
    },
    /** The features of the scope, in the order of their names. */
    features: reader.visibleFeatures,
    /** Those of the wanted blocks that lists of the scope have now, or had within the last minute. */
    blocksAmong: (wanted: Iterable<string>): Iterable<ClientBlock> => {
      update();
      return reader.blocksAmong(wanted);
    },
    find: (name: string): FeatureEntry | undefined => {
      const feature = store.feature(name);
      return feature === undefined || !reader.isVisible(feature) ? undefined : feature;
    },
    /** One feature as JSON; undefined where the scope has none of that name. */
    featureJson: (name: string): string | undefined => {
      const feature = view.find(name);
      return feature === undefined ? undefined : reader.jsonOf(feature);
    },
    /** The full state as one event. */
    hydration: (): Delta => {
      update();
      if (hydration !== undefined) return hydration;
      hydration = hydrationAt(latest.revision, featureBlocks(), reader.segmentList());
      onResize();
      return hydration;
    },
    /** The body of a delta in an encoding. */
    encode: (delta: Delta, encoding: Encoding): Buffer | Promise<Buffer> => encodeDelta(delta, encoding, onResize),
    /**
     * The changes after a client's revision; undefined where there are none, and the full state for a revision that no delta can begin at.
     * @param mayBeLater whether a revision that is later than those of the store may come from another replica: then there is nothing to send
     */
    since: (after: number, mayBeLater: MayBeLater = never): Delta | undefined => {
      update();
      if (after < Math.max(store.historyFrom, store.hydratesBelow)) return view.hydration();
      if (after > store.position) return mayBeLater(after) ? undefined : view.hydration();
      if (after >= latest.revision) return undefined;
      const cached = deltas.get(after);
      if (cached !== undefined) return cached.delta;
      const changes = deltaAfter(after, store, reader);
      const delta = changes === undefined ? undefined : { ...changes, length: changes.body.length, encoded: {} };
      deltas.set(after, { delta });
      onResize();
      return delta;
    },
    /** the size of all cached bytes */
    get bytes(): number {
      const blockBytes = blocks.reduce((total, { size }) => total + size, 0);
      return viewOverheadBytes + blockBytes + deltas.calculatedSize + cachedBytesOf(content, hydration);
    },
  };
  return view;
}
export type DeliveryView = ReturnType<typeof deliveryView>;

/** A JSON text that lists features. */
export interface FeatureList {
  readonly blocks: readonly FeatureBlock[];
  /** what precedes the features */
  readonly jsonPrefix: string;
  /** what follows them */
  readonly jsonSuffix: string;
}

/** what separates the blocks */
export const comma = Buffer.from(',');

/** The length of a list in bytes, before compression. */
export function listLength({ blocks, jsonPrefix, jsonSuffix }: FeatureList): number {
  return (
    blocks.reduce((sum, { length }) => sum + length, Math.max(0, blocks.length - 1)) +
    Buffer.byteLength(jsonPrefix) +
    Buffer.byteLength(jsonSuffix)
  );
}

/** Copies nothing: a list may be so long that a second copy of it is too much. */
export function listBytes(list: FeatureList): Buffer {
  const { blocks, jsonPrefix, jsonSuffix } = list;
  const bytes = Buffer.allocUnsafeSlow(listLength(list));
  let offset = bytes.write(jsonPrefix);
  for (const [nth, block] of blocks.entries()) {
    if (nth > 0) offset += comma.copy(bytes, offset);
    offset = block.write(bytes, offset);
  }
  bytes.write(jsonSuffix, offset);
  return bytes;
}

/** As many as Node.js by default has threads that compress: each compression that waits for a thread takes a quarter of a MiB of memory. */
const maxConcurrentBlocks = 4;

/**
 * Compresses the blocks that have changed, or follow one that has, since they were last compressed. Reads their texts before it first waits:
 * afterwards the store may have changed.
 */
async function compressBlocks(blocks: readonly FeatureBlock[]): Promise<readonly GzipPart[]> {
  const compressions = blocks.map((block, nth) => block.gzip(blocks[nth - 1]));
  const parts: GzipPart[] = [];
  let next = 0;
  const compressNext = async (): Promise<void> => {
    const buffers = { own: scratch(), before: scratch() };
    for (let nth = next++; nth < blocks.length; nth = next++)
      parts[nth] = await (compressions[nth] as (typeof compressions)[number])(buffers);
  };
  await Promise.all(Array.from({ length: maxConcurrentBlocks }, compressNext));
  return parts;
}

/** A list in an encoding. With gzip only blocks that have changed, and those after them, are compressed again. */
export async function compressList(list: FeatureList, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  if (encoding !== 'gzip') return compress(listBytes(list), encoding);
  const [blockParts, jsonPrefix, jsonSuffix, separator] = await Promise.all([
    compressBlocks(list.blocks),
    gzipPart(Buffer.from(list.jsonPrefix)),
    gzipPart(Buffer.from(list.jsonSuffix)),
    gzipPart(comma),
  ]);
  const parts = blockParts.flatMap((part, nth) => (nth === 0 ? [part] : [separator, part]));
  return joinGzip([jsonPrefix, ...parts, jsonSuffix]);
}
