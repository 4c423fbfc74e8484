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
import { useMayCall } from '../../api/permissions.ts';
import { useMayEdit } from '../../changes/edit-protection.tsx';

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

/** Whether events of this type can be undone, and the user may do that: directly or, where the environment is protected, by a proposal. */
export function useMayUndo(event: Event): boolean {
  const project = event.project ?? undefined;
  const environment = event.environment ?? undefined;
  const mayCall = useMayCall();
  const mayEdit = useMayEdit(project);
  const operation = undoOperationOf(event);
  if (operation === undefined) return false;
  // A segment of no project is in no change request.
  return project === undefined || direct.includes(operation)
    ? mayCall(operation, { project, environment })
    : permissionsFor(operation).some((permission) => mayEdit(permission, environment));
}
