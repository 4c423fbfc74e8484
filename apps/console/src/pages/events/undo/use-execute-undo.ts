import {
  AddChanges,
  type ChangeRequest,
  CreateSegment,
  DeleteSegment,
  type Event,
  GetFeature,
  GetFeatureEnvironment,
  GetSegment,
  GetStrategy,
  MoveFeature,
  ReviveFeature,
  type SegmentChange,
  SetStale,
  UpdateFeature,
  UpdateFeatureTags,
  UpdateSegment,
} from '@bunting/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { call, callWithEntityTag } from '../../../api/call.ts';
import { type SubmitOutcome, useSubmitChanges } from '../../../changes/submit-changes.ts';
import { readProtectedEnvironments } from '../../../changes/edit-protection.tsx';
import type { UndoStep } from './plan-undo.ts';

/** The change request to which a step was added; undefined if it was executed directly. */
export type Proposal = Pick<ChangeRequest, 'id'> | undefined;

/** Reads the entity tag of the resource that a step changes; undefined if its operation takes no `If-Match`. @throws ApiError */
export const readEntityTag = async (event: Event, step: UndoStep): Promise<string | undefined> => {
  const feature = { projectId: event.project ?? '', featureName: event.featureName ?? '' };
  switch (step.kind) {
    case 'change': {
      const { environment, change } = step;
      if (environment === undefined) return (await callWithEntityTag(GetFeature, { params: feature })).entityTag;
      const params = { ...feature, environment };
      if (change.action === 'updateStrategy' || change.action === 'deleteStrategy')
        return (await callWithEntityTag(GetStrategy, { params: { ...params, strategyId: change.payload.id } }))
          .entityTag;
      return (await callWithEntityTag(GetFeatureEnvironment, { params })).entityTag;
    }
    case 'tags':
    case 'details':
    case 'move':
      return (await callWithEntityTag(GetFeature, { params: feature })).entityTag;
    case 'updateSegment':
    case 'deleteSegment':
      return (await callWithEntityTag(GetSegment, { params: { id: step.id } })).entityTag;
    case 'stale':
    case 'revive':
    case 'createSegment':
      return undefined;
  }
};

/** A step, and the entity tag that the resource that it changes must still have. */
interface StepWithEntityTag {
  readonly step: UndoStep;
  readonly ifMatch: string | undefined;
}

/** Returns a function that executes steps one after the other, and returns the change request to which they were added, if any. */
export const useExecuteUndo = (event: Event) => {
  const client = useQueryClient();
  const project = event.project ?? '';
  const params = { projectId: project, featureName: event.featureName ?? '' };
  const submitChanges = useSubmitChanges(project);
  const proposeSegment = (environment: string, change: SegmentChange): Promise<Proposal> =>
    call(AddChanges, { params: { projectId: project, environment }, body: change });
  /** The environment of the change request for a change of all environments; undefined if no environment is protected. */
  const readFirstProtected = async (): Promise<string | undefined> =>
    event.project == null ? undefined : (await readProtectedEnvironments(client, project))[0];
  const execute = async ({ step, ifMatch }: StepWithEntityTag): Promise<Proposal> => {
    switch (step.kind) {
      case 'change': {
        const { environment, change } = step;
        const outcome: SubmitOutcome = await submitChanges.mutateAsync({ environment, changes: [change], ifMatch });
        return outcome.kind === 'proposed' ? outcome.changeRequest : undefined;
      }
      case 'tags': {
        const body = { addedTags: [...step.added], removedTags: [...step.removed] };
        return void (await call(UpdateFeatureTags, { params, body, ifMatch }));
      }
      case 'details':
        return void (await call(UpdateFeature, { params, body: step.body, ifMatch }));
      case 'stale': {
        const body = { features: [params.featureName], stale: step.stale };
        return void (await call(SetStale, { params, body }));
      }
      case 'revive':
        return void (await call(ReviveFeature, { params }));
      case 'move':
        return void (await call(MoveFeature, { params, body: { newProjectId: step.project }, ifMatch }));
      case 'createSegment':
        return void (await call(CreateSegment, { body: step.body }));
      case 'updateSegment': {
        const { id, body } = step;
        const firstProtected = await readFirstProtected();
        if (firstProtected === undefined) return void (await call(UpdateSegment, { params: { id }, body, ifMatch }));
        return proposeSegment(firstProtected, { action: 'updateSegment', payload: { id, ...body } });
      }
      case 'deleteSegment': {
        const { id } = step;
        const firstProtected = await readFirstProtected();
        if (firstProtected === undefined) return void (await call(DeleteSegment, { params: { id }, ifMatch }));
        return proposeSegment(firstProtected, { action: 'deleteSegment', payload: { id } });
      }
    }
  };
  return async (steps: readonly StepWithEntityTag[]): Promise<Proposal> => {
    let proposal: Proposal;
    for (const step of steps) proposal = (await execute(step)) ?? proposal;
    return proposal;
  };
};
