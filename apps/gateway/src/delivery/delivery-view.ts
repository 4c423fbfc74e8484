import { type ClientStrategy, type DeliveryScope, describeScope } from '@bunting/contracts';
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Change, DeliveryStore, FormerFeature, StoredFeature } from './delivery-store.ts';

export type Encoding = 'identity' | 'gzip' | 'br';

/** A full answer in one encoding. Each encoding has a tag of its own, as each is a representation of its own. */
export interface Representation {
  /** with its quotes */
  readonly etag: string;
  readonly encoding: Encoding;
  readonly body: Buffer;
}

/** Events for an SDK that knows everything up to some revision. */
export interface Delta {
  /** the `eventId` of the last event */
  readonly revision: number;
  /** `{"events":[…]}` */
  readonly body: Buffer;
}

const suffixOf: Readonly<Record<Encoding, string>> = { identity: '', gzip: '-gzip', br: '-br' };
/** A low level, since the first answer after a change waits for it. It is made in another thread. */
const gzipLevel = 4;
const brotliQuality = 5;
/** Deltas are small, and many streams share one; reconnecting clients come from many revisions. */
const deltasLimit = 1_000;

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

/** The tag that all encodings of an answer share, of one that a client sent. */
const baseOf = (tag: string): string => tag.replace(/-(?:gzip|br)$/, '');

interface Content {
  readonly tag: string;
  readonly revision: number;
  readonly json: (etag: string) => string;
  readonly characters: number;
  /** lazily, each made once */
  readonly representations: Partial<Record<Encoding, Representation | Promise<Representation>>>;
}

const eventOf = (type: string, eventId: number, members: string): string =>
  `{"type":"${type}","eventId":${eventId},${members}}`;

/**
 * What one scope gets of the delivery store. It is brought up to date when it is read: changes that do not concern the scope leave all as it is,
 * the bytes that were made before included.
 */
export const deliveryView = (store: DeliveryStore, scope: DeliveryScope) => {
  const { environment, projects, namePrefix = '', tags, inlineSegments } = scope;
  const wantedProjects = projects === undefined ? undefined : new Set(projects);
  const wantedTags = tags === undefined ? undefined : new Set(tags.map(({ type, value }) => `${type}:${value}`));
  const query = JSON.stringify(describeScope(scope));
  const queryHash = hash('sha256', query, 'hex').slice(0, 8);

  let epoch = -1;
  /** the store's position up to which this is up to date */
  let checkedTo = 0;
  /** the newest change that the scope can notice */
  let revision = 0;
  /** the segments that visible features use; undefined until they are collected again */
  let used: ReadonlySet<number> | undefined;
  let content: Content | undefined;
  let hydration: Delta | undefined;
  let deltas = new Map<number, Delta | undefined>();

  const mayHaveProject = (project: string): boolean => wantedProjects === undefined || wantedProjects.has(project);
  const hasName = ({ name }: { readonly name: string }): boolean => name.startsWith(namePrefix);
  const isVisible = (feature: StoredFeature): boolean =>
    !feature.isArchived &&
    mayHaveProject(feature.project) &&
    hasName(feature) &&
    (wantedTags === undefined || feature.tags.some((tag) => wantedTags.has(tag)));
  /** Whether clients of the scope may have the feature, which is not visible any more. */
  const isGone = (feature: StoredFeature): boolean =>
    mayHaveProject(feature.project) && hasName(feature) && !isVisible(feature);
  const isFormer = ({ name, project }: FormerFeature): boolean => {
    if (!mayHaveProject(project) || !name.startsWith(namePrefix)) return false;
    return store.feature(name)?.project !== project;
  };

  const usedSegments = (): ReadonlySet<number> => {
    if (used !== undefined) return used;
    const ids = new Set<number>();
    for (const feature of store.features()) {
      if (!isVisible(feature)) continue;
      for (const id of store.partOf(feature, environment).segments) ids.add(id);
    }
    return (used = ids);
  };

  const positionOf = (feature: StoredFeature): number => store.positionOf(feature, environment);

  /** The position at which a change concerns the scope; 0 where it does not. */
  const concerns = (change: Change): number => {
    if ('feature' in change) {
      const { feature } = change;
      return mayHaveProject(feature.project) && hasName(feature) ? positionOf(feature) : 0;
    }
    if ('former' in change) return isFormer(change.former) ? change.former.position : 0;
    if ('segment' in change) {
      const { segment } = change;
      return segment.json === undefined || usedSegments().has(segment.id) ? segment.position : 0;
    }
    return 0;
  };

  const wholeRevision = (): number => {
    let newest = store.historyFrom;
    const note = (position: number): void => void (newest = Math.max(newest, position));
    for (const feature of store.features()) note(concerns({ position: 0, feature }));
    for (const former of store.formers()) note(concerns({ position: 0, former }));
    for (const segment of store.segments()) note(concerns({ position: 0, segment }));
    return newest;
  };

  const update = (): void => {
    const { position } = store;
    if (store.epoch === epoch && position === checkedTo) return;
    const changes = store.epoch === epoch ? store.changesAfter(checkedTo) : undefined;
    const isAnew = changes === undefined;
    let newest = revision;
    if (isAnew) {
      used = undefined;
      newest = wholeRevision();
    } else {
      if (changes.some((change) => 'feature' in change && concerns(change) > revision)) used = undefined;
      for (const change of changes) newest = Math.max(newest, concerns(change));
    }
    checkedTo = position;
    if (!isAnew && newest === revision) return;
    epoch = store.epoch;
    revision = newest;
    hydration = undefined;
    deltas = new Map();
  };

  const jsonOf = (feature: StoredFeature): string => {
    const part = store.partOf(feature, environment);
    if (!inlineSegments || part.segments.length === 0) return feature.head + part.json + feature.tail;
    return feature.head + inlined(part.json) + feature.tail;
  };

  /** With the constraints of their segments in the strategies, for SDKs that know no segments. */
  const inlined = (json: string): string => {
    const part = JSON.parse(`{${json}}`) as { readonly strategies: readonly ClientStrategy[] };
    const strategies = part.strategies.map(({ segments = [], constraints, ...strategy }) => ({
      ...strategy,
      constraints: [
        ...constraints,
        ...segments.flatMap((id) => JSON.parse(`[${store.segment(id)?.constraints ?? ''}]`) as typeof constraints),
      ],
    }));
    return JSON.stringify({ ...part, strategies }).slice(1, -1);
  };

  /** The features and the segments that they use, each as a JSON list without its brackets. */
  const lists = (): { readonly features: string; readonly segments: string } => {
    const features: string[] = [];
    for (const feature of store.features()) if (isVisible(feature)) features.push(jsonOf(feature));
    const segments = [...usedSegments()]
      .sort((one, other) => one - other)
      .flatMap((id) => store.segment(id)?.json ?? []);
    return { features: features.join(','), segments: segments.join(',') };
  };

  const currentContent = (): Content => {
    update();
    if (content?.revision === revision) return content;
    const { features, segments } = lists();
    const body = inlineSegments
      ? `"features":[${features}],"query":${query}`
      : `"features":[${features}],"segments":[${segments}],"query":${query}`;
    const tag = `${queryHash}:${hash('sha256', body, 'hex').slice(0, 32)}`;
    // Changed, and changed back: the bytes of before are as good.
    if (content?.tag === tag) return (content = { ...content, revision });
    const now = revision;
    const json = (etag: string): string => {
      const meta = JSON.stringify({ revisionId: now, etag, queryHash });
      return `{"version":2,${body},"meta":${meta}}`;
    };
    return (content = { tag, revision, json, characters: body.length, representations: {} });
  };

  const represent = async ({ tag, json }: Content, encoding: Encoding): Promise<Representation> => {
    const etag = `"${tag}${suffixOf[encoding]}"`;
    const body = Buffer.from(json(etag));
    if (encoding === 'gzip') return { etag, encoding, body: await gzipped(body, { level: gzipLevel }) };
    if (encoding === 'identity') return { etag, encoding, body };
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    };
    return { etag, encoding, body: await brotlied(body, { params }) };
  };

  const compute = (after: number): Delta | undefined => {
    interface Event {
      readonly at: number;
      readonly json: string;
    }
    const events: Event[] = [];
    /** by segment: the position of the event that has it */
    const sent = new Map<number, number>();
    const updated: StoredFeature[] = [];
    const gone = new Map<string, Event>();

    const consider = (change: Change): void => {
      if ('feature' in change) {
        const { feature } = change;
        const at = positionOf(feature);
        if (at <= after) return;
        if (isVisible(feature)) updated.push(feature);
        else if (isGone(feature)) {
          const { name: featureName, project } = feature;
          const members = JSON.stringify({ featureName, project }).slice(1, -1);
          gone.set(`${featureName} ${project}`, { at, json: eventOf('feature-removed', at, members) });
        }
        return;
      }
      if ('former' in change) {
        const { former } = change;
        if (former.position <= after || !isFormer(former)) return;
        const { name: featureName, project, position: at } = former;
        const members = JSON.stringify({ featureName, project }).slice(1, -1);
        gone.set(`${featureName} ${project}`, { at, json: eventOf('feature-removed', at, members) });
        return;
      }
      if ('segment' in change) {
        const { id, position: at, json } = change.segment;
        if (at <= after || sent.has(id)) return;
        if (json === undefined) {
          events.push({ at, json: eventOf('segment-removed', at, `"segmentId":${id}`) });
        } else if (usedSegments().has(id)) {
          events.push({ at, json: eventOf('segment-updated', at, `"segment":${json}`) });
        } else return;
        sent.set(id, at);
      }
    };

    const changes = store.changesAfter(after);
    if (changes === undefined) {
      for (const feature of store.features()) consider({ position: 0, feature });
      for (const former of store.formers()) consider({ position: 0, former });
      for (const segment of store.segments()) consider({ position: 0, segment });
    } else {
      // The newest change of an entity says all.
      const seen = new Set<object>();
      for (const change of changes) {
        const entity = 'feature' in change ? change.feature : 'segment' in change ? change.segment : change;
        if (seen.has(entity)) continue;
        seen.add(entity);
        consider(change);
      }
    }
    updated.sort((one, other) => positionOf(one) - positionOf(other));
    for (const feature of updated) {
      const at = positionOf(feature);
      // A segment comes before the feature that may be the first to use it; if it changed later, it comes a second time.
      for (const id of store.partOf(feature, environment).segments) {
        const json = (sent.get(id) ?? Number.POSITIVE_INFINITY) <= at ? undefined : store.segment(id)?.json;
        if (json === undefined) continue;
        sent.set(id, at);
        events.push({ at, json: eventOf('segment-updated', at, `"segment":${json}`) });
      }
    }
    events.push(...gone.values());
    for (const feature of updated) {
      const at = positionOf(feature);
      events.push({ at, json: eventOf('feature-updated', at, `"feature":${jsonOf(feature)}`) });
    }
    const last = events.length === 0 ? undefined : Math.max(...events.map(({ at }) => at));
    if (last === undefined) return undefined;
    // The sort is stable: at one position segments and removals stay before features.
    events.sort((one, other) => one.at - other.at);
    return { revision: last, body: Buffer.from(`{"events":[${events.map(({ json }) => json).join(',')}]}`) };
  };

  const view = {
    scope,
    /** The newest revision that the scope can notice. */
    revision: (): number => {
      update();
      return revision;
    },
    /** the length of the full answer, before compression */
    get characters(): number {
      return currentContent().characters;
    },
    /** Whether a client has this tag from an answer, in any encoding, and the answer is still the same. */
    isCurrent: (tag: string): boolean => baseOf(tag) === currentContent().tag,
    etag: (encoding: Encoding): string => `"${currentContent().tag}${suffixOf[encoding]}"`,
    /** Everything, in an encoding; made once, compressed in another thread. */
    full: (encoding: Encoding): Representation | Promise<Representation> => {
      const { representations } = currentContent();
      const made = representations[encoding];
      if (made !== undefined) return made;
      const making = represent(currentContent(), encoding);
      representations[encoding] = making;
      making.then(
        (representation) => void (representations[encoding] = representation),
        () => void delete representations[encoding],
      );
      return making;
    },
    /** One feature with the constraints of its segments; undefined where the scope has none of that name. */
    one: (name: string): string | undefined => {
      const feature = store.feature(name);
      return feature === undefined || !isVisible(feature) ? undefined : jsonOf(feature);
    },
    /** Everything as one event. */
    hydration: (): Delta => {
      update();
      if (hydration !== undefined) return hydration;
      const { features, segments } = lists();
      const event = eventOf('hydration', revision, `"features":[${features}],"segments":[${segments}]`);
      return (hydration = { revision, body: Buffer.from(`{"events":[${event}]}`) });
    },
    /**
     * What a client does not have that has everything up to a revision; undefined where that is nothing. Everything for a revision that is
     * not of this history.
     */
    since: (after: number): Delta | undefined => {
      update();
      if (after < store.historyFrom || after > store.position) return view.hydration();
      if (after >= revision) return undefined;
      if (deltas.has(after)) return deltas.get(after);
      const delta = compute(after);
      if (deltas.size >= deltasLimit) deltas.clear();
      deltas.set(after, delta);
      return delta;
    },
    /** the bytes that this keeps */
    get bytes(): number {
      let sum = 1_000 + (hydration?.body.length ?? 0) + (content?.characters ?? 0);
      for (const made of Object.values(content?.representations ?? {})) if ('body' in made) sum += made.body.length;
      for (const delta of deltas.values()) sum += delta?.body.length ?? 0;
      return sum;
    },
  };
  return view;
};
export type DeliveryView = ReturnType<typeof deliveryView>;
