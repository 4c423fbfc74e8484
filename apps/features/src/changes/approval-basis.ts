import { contentTag } from '@bunting/contracts/hashing';
import { inEnvironment } from '../features/feature.ts';
import type { AppliedState } from './apply-in-memory.ts';
import type { ChangeContext } from './change-context.ts';

/**
 * A hash of what decides the effect of changes and is neither in them nor in what they replace: the default strategy that turning a feature
 * on adds, and the constraints and lists of segments that its strategies begin to use. They may be edited without a review as long as
 * nothing in the environment uses them. An approval counts only for the basis that it was given for.
 */
export function approvalBasis({ environment, features, projectContext }: ChangeContext, applied: AppliedState): string {
  const basis = [...applied.features.values()].flatMap((after) => {
    const before = features.get(after.name);
    if (before === undefined || before === after) return [];
    const segmentsOf = (feature: typeof after): number[] =>
      inEnvironment(feature, environment).strategies.flatMap(({ segments }) => segments);
    const usedBefore = new Set(segmentsOf(before));
    const newlyUsed = new Set(segmentsOf(after).filter((id) => !usedBefore.has(id)));
    const definitions = [...newlyUsed]
      .toSorted((one, other) => one - other)
      .map((id) => [id, projectContext.segments.get(id)?.definition ?? null]);
    const implied = applied.impliedChanges.get(after.name) ?? null;
    return implied === null && definitions.length === 0 ? [] : [[after.name, implied, definitions] as const];
  });
  const inOrder = basis.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return contentTag(inOrder);
}
