import { Type } from 'typebox';

// What stands in a path is looked up, not judged: a name that cannot exist is not found. The length of a URL bounds it.
const projectId = Type.String({ minLength: 1, description: 'the id of the project' });
const featureName = Type.String({ minLength: 1, description: 'the name of the feature' });
const environment = Type.String({ minLength: 1, description: 'the name of the environment' });
const strategyId = Type.String({ minLength: 1, description: 'the id of the strategy' });

export const ProjectPath = Type.Object({ projectId });
export const ProjectFeaturePath = Type.Object({ projectId, featureName });
export const FeatureEnvironmentPath = Type.Object({ projectId, featureName, environment });
export const StrategyPath = Type.Object({ projectId, featureName, environment, strategyId });
export const ProjectEnvironmentPath = Type.Object({ projectId, environment });
export const FeaturePath = Type.Object({ featureName });
export const FeatureTagPath = Type.Object({
  featureName,
  type: Type.String({ minLength: 1, description: 'the type of the tag' }),
  value: Type.String({ minLength: 1, description: 'the value of the tag' }),
});
