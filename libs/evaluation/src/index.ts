export type { EvaluationContext } from './evaluation-context.ts';
export {
  type ActiveFeature,
  type CompiledFeature,
  compiledEvaluator,
  compileFeature,
  compileSegment,
  type EvaluatedFeature,
  type EvaluatedSegment,
  type EvaluatedStrategy,
  type Evaluation,
  type Evaluator,
  evaluatorOf,
  type FeatureExplanation,
  type FindSegment,
  type StrategyExplanation,
} from './evaluator.ts';
export { contextFieldsOfBody, contextFieldsOfQuery, frontendFeature } from './frontend.ts';
export { hasPayloads, type Reason, type Resolution } from './resolution.ts';
export type { Variant } from './variant.ts';
