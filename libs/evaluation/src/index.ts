export type { EvaluationContext } from './evaluation-context.ts';
export {
  type CompiledFeature,
  createEvaluator,
  compileFeature,
  compileSegment,
  type EvaluableFeature,
  type EvaluableSegment,
  type Evaluation,
  type Evaluator,
  compileEvaluator,
  type FeatureExplanation,
  type FindSegment,
  type StrategyExplanation,
} from './evaluator.ts';
export { contextFieldsOfBody, contextFieldsOfQuery, frontendFeature } from './frontend-api.ts';
export { hasPayloads, type Resolution } from './resolve-with-reason.ts';
export type { Variant } from './variant.ts';
