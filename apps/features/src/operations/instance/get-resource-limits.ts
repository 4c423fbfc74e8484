import { implement } from '@bunting/bus';
import { GetResourceLimits, noLimit } from '@bunting/contracts';
import { fixedResourceLimits } from '../../domain/fixed-resource-limits.ts';
import type { FeaturesContext } from '../context.ts';

export const getResourceLimitsEndpoint = ({ instanceFeatureLimit = noLimit, allowsRegex }: FeaturesContext) =>
  implement(GetResourceLimits, async () => ({
    segmentValues: fixedResourceLimits.valuesPerSegment,
    strategySegments: fixedResourceLimits.segmentsPerStrategy,
    featureEnvironmentStrategies: fixedResourceLimits.strategiesPerEnvironment,
    constraintValues: fixedResourceLimits.valuesPerConstraint,
    constraints: fixedResourceLimits.constraintsPerStrategy,
    environments: fixedResourceLimits.environments,
    projects: fixedResourceLimits.projects,
    segments: fixedResourceLimits.segments,
    featureFlags: instanceFeatureLimit,
    allowsRegex,
  }));
