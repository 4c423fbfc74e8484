import type { UpdateStrategyBody } from '@bunting/contracts';
import type { Decision, Feature } from '../features/feature.ts';
import { type StrategyContent, strategyOf, type StrategyRef } from './strategy.ts';
import { replaceStrategyContentAndDisableIfInactive } from './edit-strategy.ts';
import { updatedParameters } from './normalize-strategy.ts';
import type { ProjectContext } from '../projects/project-context.ts';

/**
 * Replaces the constraints and variants of a strategy, also with none where the update leaves them out, and the other properties that the
 * update has. Id, environment and sort order do not change. The feature is turned off if no active strategy remains.
 */
export const updateStrategy = (
  feature: Feature,
  ref: StrategyRef,
  update: UpdateStrategyBody,
  projectContext: ProjectContext,
): Decision => {
  const before = strategyOf(feature, ref);
  const name = update.name ?? before.name;
  const content: StrategyContent = {
    name,
    title: update.title ?? before.title,
    disabled: update.disabled ?? before.disabled,
    constraints: update.constraints ?? [],
    parameters: updatedParameters(before, { name, parameters: update.parameters }, feature, projectContext),
    variants: update.variants ?? [],
    segments: update.segments ?? before.segments,
  };
  return replaceStrategyContentAndDisableIfInactive(feature, ref, content, { projectContext, path: '/body' });
};
