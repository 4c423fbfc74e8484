import { type Endpoint, implement } from '@bunting/bus';
import { CountResources, GetResourceLimits, noLimit } from '@bunting/contracts';
import { fixedResourceLimits } from '../names.ts';
import type { FeaturesContext } from '../context.ts';

export function instanceEndpoints({
  allowsRegex,
  countResources,
  instanceFeatureLimit,
  maxProjects,
  maxSegments,
}: FeaturesContext): readonly Endpoint[] {
  return [
    implement(GetResourceLimits, async () => ({
      segmentValues: fixedResourceLimits.valuesPerSegment,
      strategySegments: fixedResourceLimits.segmentsPerStrategy,
      featureEnvironmentStrategies: fixedResourceLimits.strategiesPerEnvironment,
      constraintValues: fixedResourceLimits.valuesPerConstraint,
      constraints: fixedResourceLimits.constraintsPerStrategy,
      environments: fixedResourceLimits.environments,
      projects: maxProjects,
      segments: maxSegments,
      featureFlags: instanceFeatureLimit ?? noLimit,
      allowsRegex,
    })),

    implement(CountResources, () => countResources()),
  ];
}
