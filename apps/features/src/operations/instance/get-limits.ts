import { implement } from '@bunting/bus';
import { GetLimits, noLimit } from '@bunting/contracts';
import { limits } from '../../domain/surroundings.ts';

/** @param featureLimit how many active features there may be; as many as wanted where it is left out */
export const getLimitsEndpoint = (featureLimit = noLimit) =>
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
