import {
  compileChunk,
  CompiledFeature,
  createEvaluator,
  compileSegment,
  type EvaluableFeature,
  type EvaluableSegment,
  type Evaluator,
  type FeatureChunk,
  type FindSegment,
} from '@bunting/evaluation';
import type { DeliveryStore, SegmentEntry } from '../store/delivery-store.ts';
import { type EnvironmentPart, type FeatureEntry, featureJson } from '../store/feature-entries.ts';
import type { DeliveryView } from './delivery-view.ts';

interface Compiled<T> {
  /** the newest position of the feature and segments that it was compiled from */
  readonly position: number;
  readonly value: T;
}

/** The evaluation of a view, as of one revision. */
export interface ViewEvaluation extends Evaluator {
  /** a number that no other evaluation of this process has */
  readonly id: number;
}

/** The evaluation of a view, and the chunks that it was made of so far. */
interface Made {
  readonly revision: string;
  readonly evaluation: ViewEvaluation;
  readonly chunks: { enabled?: readonly FeatureChunk[]; all?: readonly FeatureChunk[] };
}

/** Caches a value that is derived from an object until the position of the object changes. */
function cachedByPosition<K extends object, T>() {
  const cache = new WeakMap<K, Compiled<T>>();
  return (key: K, position: number, compile: () => T): T => {
    const cached = cache.get(key);
    if (cached?.position === position) return cached.value;
    const value = compile();
    cache.set(key, { position, value });
    return value;
  };
}

/** The mean number of features in a chunk. */
const meanChunkLength = 1_024;
/** Names that are chosen for it could otherwise make one chunk of all features. */
const maxChunkLength = 16 * meanChunkLength;

/** Whether a chunk begins with a feature: adding or removing one changes no chunk but its own. */
function beginsChunk(name: string): boolean {
  let hash = 0;
  for (let index = 0; index < name.length; index++) hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0;
  return (Math.imul(hash, 0x9e37_79b1) >>> 16) % meanChunkLength === 0;
}

/** Divides features into chunks, and reuses those that have the same compiled features as before. */
function updateChunks(features: Iterable<CompiledFeature>, before: readonly FeatureChunk[]): readonly FeatureChunk[] {
  const runs: CompiledFeature[][] = [];
  let last: CompiledFeature[] = [];
  for (const compiled of features) {
    if (last.length === 0 || last.length >= maxChunkLength || beginsChunk(compiled.name))
      runs.push((last = [compiled]));
    else last.push(compiled);
  }
  const byFirst = new Map(before.map((chunk) => [chunk.features[0], chunk]));
  return runs.map((run) => {
    const chunk = byFirst.get(run[0]);
    const isSame = chunk?.features.length === run.length && run.every((one, nth) => one === chunk.features[nth]);
    return isSame ? (chunk as FeatureChunk) : compileChunk(run);
  });
}

/**
 * Compiles features out of the delivery store for evaluation. Each is compiled at its first evaluation, and at the first one after a change
 * of it or of a segment that it uses.
 */
export function evaluatorCache(store: DeliveryStore) {
  const compiledSegment = cachedByPosition<SegmentEntry, ReturnType<FindSegment>>();
  const compiledFeature = cachedByPosition<EnvironmentPart | FeatureEntry, CompiledFeature>();
  let evaluationsMade = 0;
  const evaluations = new WeakMap<DeliveryView, Made>();

  const findSegment: FindSegment = (id) => {
    const segment = store.segment(id);
    if (segment?.json === undefined) return undefined;
    const { json, list } = segment;
    return compiledSegment(segment, segment.position, () => {
      if (list === undefined) return compileSegment(JSON.parse(json) as EvaluableSegment);
      const constraints = JSON.parse(`[${list.ownConstraints}]`) as EvaluableSegment['constraints'];
      return compileSegment({ constraints, list });
    });
  };

  const compile = (feature: FeatureEntry, environment: string): CompiledFeature => {
    const part = store.partOf(feature, environment);
    // The texts of now: a feature is mostly read later, when the store may have other ones.
    const texts = [feature.common, part.json, feature.dependencies] as const;
    const parse = () => JSON.parse(featureJson(texts)) as EvaluableFeature;
    // All features that have no part in an environment share one empty part, which can identify none of them.
    const key = part.position === 0 ? feature : part;
    let position = store.positionOf(feature, environment);
    for (const id of part.segments) position = Math.max(position, store.segment(id)?.position ?? 0);
    return compiledFeature(key, position, () => new CompiledFeature(feature.name, parse, findSegment));
  };

  const make = (view: DeliveryView, revision: string, before: Made['chunks'] = {}): Made => {
    const { environment } = view.scope;
    const chunks: Made['chunks'] = {};
    function* compiledFeatures(isIncluded: (feature: FeatureEntry) => boolean): Generator<CompiledFeature> {
      for (const feature of view.features()) if (isIncluded(feature)) yield compile(feature, environment);
    }
    const isEnabled = (feature: FeatureEntry): boolean =>
      store.partOf(feature, environment).json.startsWith('{"enabled":true');
    const evaluator = createEvaluator({
      find: (name) => {
        const feature = view.find(name);
        return feature === undefined ? undefined : compile(feature, environment);
      },
      enabled: () => (chunks.enabled ??= updateChunks(compiledFeatures(isEnabled), before.enabled ?? [])),
      all: () =>
        (chunks.all ??= updateChunks(
          compiledFeatures(() => true),
          before.all ?? [],
        )),
    });
    return { revision, evaluation: { ...evaluator, id: ++evaluationsMade }, chunks };
  };

  /** The evaluation of a view in its present state. */
  return (view: DeliveryView): ViewEvaluation => {
    const revision = `${store.epoch} ${view.revision()}`;
    const cached = evaluations.get(view);
    if (cached?.revision === revision) return cached.evaluation;
    const made = make(view, revision, cached?.chunks);
    evaluations.set(view, made);
    return made.evaluation;
  };
}
