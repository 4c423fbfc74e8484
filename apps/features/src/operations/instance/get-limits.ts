import { implement } from '@bunting/bus';
import { GetLimits, noLimit } from '@bunting/contracts';
import { limits } from '../../domain/project-context.ts';
import type { FeaturesContext } from '../context.ts';

export const getLimitsEndpoint = ({ featureLimit = noLimit }: FeaturesContext) =>
  implement(GetLimits, async () => ({
    segmentValues: limits.valuesPerSegment,
    strategySegments: limits.segmentsPerStrategy,
    featureEnvironmentStrategies: limits.strategiesPerEnvironment,
    constraintValues: limits.valuesPerConstraint,
    constraints: limits.constraintsPerStrategy,
    environments: limits.environments,
    projects: limits.projects,
    segments: limits.segments,
    featureFlags: featureLimit,
  }));
