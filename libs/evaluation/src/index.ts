export type { EvaluationContext } from './constraint.ts';
export {
  type CompiledFeature,
  compileEvaluator,
  compileFeature,
  compileSegment,
  createEvaluator,
  type EvaluableFeature,
  type EvaluableSegment,
  type Evaluation,
  type Evaluator,
  type FeatureExplanation,
  type FindSegment,
  type StrategyExplanation,
} from './evaluator.ts';
export {
  contextFieldsOfBody,
  contextFieldsOfQuery,
  frontendFeature,
  hasPayloads,
  type Resolution,
} from './frontend-api.ts';
export type { Variant } from './variant.ts';
