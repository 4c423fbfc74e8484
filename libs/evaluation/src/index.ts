export type { EvaluationContext } from './evaluation-context.ts';
export {
  type ActiveFeature,
  type CompiledFeature,
  createEvaluator,
  compileFeature,
  compileSegment,
  type EvaluableFeature,
  type EvaluableSegment,
  type EvaluableStrategy,
  type Evaluation,
  type Evaluator,
  compileEvaluator,
  type FeatureExplanation,
  type FindSegment,
  type StrategyExplanation,
} from './evaluator.ts';
export { contextFieldsOfBody, contextFieldsOfQuery, frontendFeature } from './frontend-api.ts';
export { hasPayloads, type Reason, type Resolution } from './resolve-with-reason.ts';
export type { Variant } from './variant.ts';
