import { implement } from '@bunting/bus';
import { GetResourceLimits, noLimit } from '@bunting/contracts';
import { resourceLimits } from '../../domain/resource-limits.ts';
import type { FeaturesContext } from '../context.ts';

export const getResourceLimitsEndpoint = ({ instanceFeatureLimit = noLimit, allowsRegex }: FeaturesContext) =>
  implement(GetResourceLimits, async () => ({
    segmentValues: resourceLimits.valuesPerSegment,
    strategySegments: resourceLimits.segmentsPerStrategy,
    featureEnvironmentStrategies: resourceLimits.strategiesPerEnvironment,
    constraintValues: resourceLimits.valuesPerConstraint,
    constraints: resourceLimits.constraintsPerStrategy,
    environments: resourceLimits.environments,
    projects: resourceLimits.projects,
    segments: resourceLimits.segments,
    featureFlags: instanceFeatureLimit,
    allowsRegex,
  }));
