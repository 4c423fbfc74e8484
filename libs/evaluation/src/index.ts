export { compileConstraint, type EvaluationContext, type ObservedContext, observedContext } from './constraint.ts';
export {
  type ActiveFeature,
  activeInChunk,
  type ActiveVisitor,
  CompiledFeature,
  compileEvaluator,
  compileSegment,
  createEvaluator,
  type EvaluableFeature,
  type EvaluableList,
  type EvaluableSegment,
  type Evaluation,
  type Evaluator,
  type FeatureExplanation,
  type FindSegment,
  type StrategyExplanation,
} from './evaluator.ts';
export { compileChunk, type FeatureChunk } from './feature-chunk.ts';
export { contextFieldsOfBody, contextFieldsOfQuery, frontendFeature } from './frontend-api.ts';
export { blockOfId, bytesOfBlock, type IdBlock, type IdList, idList, readIdBlock } from './id-list.ts';
export { contextFieldsOfOfrep, isOfrepFailure, ofrepResult } from './ofrep.ts';
export type { Resolution } from './resolution.ts';
export { rolloutBuckets, type Variant } from './variant.ts';
