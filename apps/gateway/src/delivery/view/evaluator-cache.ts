import {
  compileFeature,
  type CompiledFeature,
  createEvaluator,
  compileSegment,
  type EvaluableFeature,
  type EvaluableSegment,
  type Evaluator,
  type FindSegment,
} from '@bunting/evaluation';
import type { DeliveryStore, SegmentEntry } from '../store/delivery-store.ts';
import type { EnvironmentPart, FeatureEntry } from '../store/feature-entries.ts';
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

/**
 * Compiles features out of the delivery store for evaluation. Each is compiled at its first evaluation, and at the first one after a change
 * of it or of a segment that it uses.
 */
export function evaluatorCache(store: DeliveryStore) {
  const compiledSegment = cachedByPosition<SegmentEntry, ReturnType<FindSegment>>();
  const compiledFeature = cachedByPosition<EnvironmentPart | FeatureEntry, CompiledFeature>();
  let evaluationsMade = 0;
  const evaluations = new WeakMap<DeliveryView, { readonly revision: string; readonly evaluation: ViewEvaluation }>();

  const findSegment: FindSegment = (id) => {
    const segment = store.segment(id);
    if (segment?.json === undefined) return undefined;
    const { json } = segment;
    return compiledSegment(segment, segment.position, () => compileSegment(JSON.parse(json) as EvaluableSegment));
  };

  const compile = (feature: FeatureEntry, environment: string): CompiledFeature => {
    const part = store.partOf(feature, environment);
    const parse = () => JSON.parse(feature.jsonPrefix + part.json + feature.jsonSuffix) as EvaluableFeature;
    // All features that have no part in an environment share one empty part, which can identify none of them.
    const key = part.position === 0 ? feature : part;
    let position = store.positionOf(feature, environment);
    for (const id of part.segments) position = Math.max(position, store.segment(id)?.position ?? 0);
    return compiledFeature(key, position, () => compileFeature(parse(), findSegment));
  };

  const evaluationOf = (view: DeliveryView): ViewEvaluation => {
    const { environment } = view.scope;
    let enabled: readonly CompiledFeature[] | undefined;
    let all: readonly CompiledFeature[] | undefined;
    const evaluator = createEvaluator({
      find: (name) => {
        const feature = view.find(name);
        return feature === undefined ? undefined : compile(feature, environment);
      },
      enabled: () =>
        (enabled ??= [...view.features()]
          .filter((feature) => store.partOf(feature, environment).json.startsWith('"enabled":true'))
          .map((feature) => compile(feature, environment))),
      all: () => (all ??= Array.from(view.features(), (feature) => compile(feature, environment))),
    });
    return { ...evaluator, id: ++evaluationsMade };
  };

  /** The evaluation of a view in its present state. */
  return (view: DeliveryView): ViewEvaluation => {
    const revision = `${store.epoch} ${view.revision()}`;
    const cached = evaluations.get(view);
    if (cached?.revision === revision) return cached.evaluation;
    const evaluation = evaluationOf(view);
    evaluations.set(view, { revision, evaluation });
    return evaluation;
  };
}
