import { GetEditStatus, ListStrategiesOfSegment, type SegmentUsage } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useMayPropose } from '../api/permissions.ts';
import { operationQuery } from '../api/queries-and-mutations.ts';

/** So many projects can be asked about at once. */
const maxAskedProjects = 300;

/** What an edit of a segment meets by the use of the segment. */
export interface SegmentUse {
  /** it is not yet known: an edit may not be offered before */
  readonly isLoading: boolean;
  /** whether the user may edit the segment only by a change request */
  readonly needsChangeRequest: boolean;
  /** the project whose protected environments use it, where the edit of one of every project is proposed; none where those of several projects do */
  readonly target: { readonly project: string; readonly environments: readonly string[] } | undefined;
}

/** Where an edit of a segment of every project is proposed, if it needs a change request. */
export function useTargetOfUse(usage: SegmentUsage | undefined): Pick<SegmentUse, 'isLoading' | 'target'> {
  const mayPropose = useMayPropose();
  const strategies = usage?.needsChangeRequest === true ? usage.strategies : [];
  const projects = [...new Set(strategies.map(({ projectId }) => projectId))].toSorted();
  const { data, isLoading } = useQuery({
    ...operationQuery(GetEditStatus, { body: { projects, features: [] } }),
    enabled: projects.length > 0 && projects.length <= maxAskedProjects,
  });
  const protectedUses = (data?.protectedEnvironments ?? []).filter((place) =>
    strategies.some((use) => use.projectId === place.project && use.environment === place.environment),
  );
  const [first, ...others] = protectedUses;
  const isOfOne = others.every(({ project }) => project === first?.project);
  if (first === undefined || !isOfOne || !mayPropose(first.project)) return { isLoading, target: undefined };
  const target = { project: first.project, environments: protectedUses.map(({ environment }) => environment) };
  return { isLoading, target };
}

/** @param id undefined if there is none to ask about; of a segment that is gone nothing is protected */
export function useSegmentUse(id: number | undefined): SegmentUse {
  const usage = useQuery({
    ...operationQuery(ListStrategiesOfSegment, { params: { id: id ?? 0 } }),
    enabled: id !== undefined,
    retry: false,
  });
  const { isLoading, target } = useTargetOfUse(usage.data);
  return {
    isLoading: usage.isLoading || isLoading,
    needsChangeRequest: usage.data?.needsChangeRequest === true,
    target,
  };
}
