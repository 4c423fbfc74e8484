export type { EvaluationContext } from './evaluation-context.ts';
export {
  type EvaluatedFeature,
  type EvaluatedSegment,
  type EvaluatedStrategy,
  type Evaluator,
  evaluatorOf,
  type Evaluation,
  type FeatureExplanation,
  type StrategyExplanation,
} from './evaluator.ts';
export { contextFieldsOfBody, contextFieldsOfQuery, frontendFeatures } from './frontend.ts';
