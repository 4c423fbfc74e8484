import {
  type AnyOperation,
  CreateSegment,
  type Event,
  MoveFeature,
  permissionsFor,
  ReviveFeature,
  SetStale,
  undoOperations,
  UpdateFeature,
  UpdateFeatureTags,
} from '@bunting/contracts';
import { useMayCall, useMayPropose } from '../../api/permissions.ts';
import { useProjects } from '../../api/queries-and-mutations.ts';
import { type EditProtection, useEditProtection, useMayEdit } from '../../changes/edit-protection.tsx';
import { useSegmentUse } from '../../changes/segment-use.ts';

/** The operations of undos that are no changes: they need no change request, wherever they are called. */
const direct: readonly AnyOperation[] = [
  CreateSegment,
  MoveFeature,
  ReviveFeature,
  SetStale,
  UpdateFeature,
  UpdateFeatureTags,
];

/** The operation that undoes an event; undefined where events of its type cannot be undone. */
export function undoOperationOf({ type }: Event): AnyOperation | undefined {
  return (undoOperations as Partial<Record<string, AnyOperation>>)[type];
}

/** The segment that an undo edits or deletes; undefined for the undo of anything else. */
function segmentOf({ type, data }: Event): number | undefined {
  if (type !== 'segment-created' && type !== 'segment-updated') return undefined;
  const id = data?.['id'];
  return typeof id === 'number' ? id : undefined;
}

/**
 * The protection that an undo meets. A segment may be of every project by now: it is proposed where protected environments use it.
 * @param affected the environments that it changes; null stands for all of them
 */
export function useUndoProtection(event: Event, affected: readonly (string | null)[]): EditProtection {
  const named = affected.flatMap((environment) => environment ?? []);
  const ofProject = useEditProtection(event.project ?? undefined, named.length < affected.length ? undefined : named);
  const { isLoading, target } = useSegmentUse(segmentOf(event));
  if (ofProject.environments.length > 0 || target === undefined)
    return { ...ofProject, isLoading: ofProject.isLoading || isLoading };
  return { ...target, isLoading, maySkip: false, isDirect: false };
}

/** What the user may do to undo an event. */
export interface UndoRights {
  /** whether events of its type can be undone, and the user may do that: directly or, where the environment is protected, by a proposal */
  readonly mayUndo: boolean;
  /** whether the user has the permission for it where nothing is protected */
  readonly hasPermission: boolean;
}

const nothing: UndoRights = { mayUndo: false, hasPermission: false };

export function useUndoRights(event: Event): UndoRights {
  const operation = undoOperationOf(event);
  const { data: known } = useProjects();
  const isOfKnown = event.project == null || known?.projects.some(({ id }) => id === event.project) === true;
  // Nothing is asked about the project of an event that cannot be undone, which may be deleted by now.
  const isAsked = operation !== undefined && isOfKnown;
  const project = isAsked ? (event.project ?? undefined) : undefined;
  const environment = event.environment ?? undefined;
  const mayCall = useMayCall();
  const mayEdit = useMayEdit(project);
  const mayPropose = useMayPropose();
  const { environments: protectedEnvironments } = useEditProtection(project);
  const segment = useSegmentUse(segmentOf(event));
  if (!isAsked) return nothing;
  const hasPermission = mayCall(operation, { project, environment });
  if (segment.isLoading) return { mayUndo: false, hasPermission };
  if (segment.needsChangeRequest) {
    const isProposedInProject = project !== undefined && protectedEnvironments.length > 0 && mayPropose(project);
    return { mayUndo: isProposedInProject || segment.target !== undefined, hasPermission };
  }
  return project === undefined || direct.includes(operation)
    ? { mayUndo: hasPermission, hasPermission }
    : { mayUndo: permissionsFor(operation).some((permission) => mayEdit(permission, environment)), hasPermission };
}
