import { refusal } from '@bunting/contracts';
import { disabledEverywhere } from '../features/feature-in-environment.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { shortName } from '../refusals.ts';
import { type Decision, type Feature, featureEvent } from '../features/feature.ts';

/** Restores an archived feature: disabled in every environment and in the lifecycle stage `initial`. */
export const reviveFeature = (feature: Feature, now: string): Decision => {
  if (feature.archivedAt === null) return { feature, events: [] };
  const revived: Feature = {
    ...disabledEverywhere(feature),
    archivedAt: null,
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
  };
  return { feature: revived, events: [featureEvent('feature-revived', revived)] };
};

/** Refuses features that use a segment or a context field that does not exist, or a segment that their project may not use. */
export const requireUsableReferences = (
  features: readonly Feature[],
  { segments, contextFields }: Pick<ProjectContext, 'segments' | 'contextFields'>,
): void => {
  for (const feature of features) {
    const isUsable = (id: number): boolean => {
      const segment = segments.get(id);
      return segment !== undefined && (segment.project === null || segment.project === feature.project);
    };
    const unusable = Object.entries(feature.environments).flatMap(([environment, { strategies }]) =>
      strategies.flatMap((strategy) =>
        [
          ...strategy.segments
            .filter((id) => !isUsable(id))
            .map((id) => ['segment', shortName(segments.get(id)?.name ?? ''), id].filter(Boolean).join(' ')),
          ...strategy.constraints
            .filter(({ contextName }) => !contextFields.has(contextName))
            .map(({ contextName }) => `context field ${shortName(contextName)}`),
        ].map((object) => `${object} (strategy ${strategy.id} in ${environment})`),
      ),
    );
    if (unusable.length === 0) continue;
    const objects = [...new Set(unusable)].slice(0, 10).join(', ');
    throw refusal(
      'ConflictError',
      `Feature ${feature.name} uses objects that no longer exist, or that its project may not use: ${objects}. Take them out of the strategy, which can be edited while the feature is archived, or create the context field again.`,
    );
  }
};
