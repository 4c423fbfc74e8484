import { implement } from '@bunting/bus';
import { GetResourceLimits, noLimit } from '@bunting/contracts';
import { limits } from '../../domain/project-context.ts';
import type { FeaturesContext } from '../context.ts';

export const getResourceLimitsEndpoint = ({ instanceFeatureLimit = noLimit, allowsRegex }: FeaturesContext) =>
  implement(GetResourceLimits, async () => ({
    segmentValues: limits.valuesPerSegment,
    strategySegments: limits.segmentsPerStrategy,
    featureEnvironmentStrategies: limits.strategiesPerEnvironment,
    constraintValues: limits.valuesPerConstraint,
    constraints: limits.constraintsPerStrategy,
    environments: limits.environments,
    projects: limits.projects,
    segments: limits.segments,
    featureFlags: instanceFeatureLimit,
    allowsRegex,
  }));
