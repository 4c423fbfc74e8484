import {
  AddDependency,
  AddStrategy,
  ArchiveFeature,
  type Change,
  type CreateSegmentBody,
  type CreateStrategyBody,
  DeleteSegment,
  DeleteStrategy,
  DisableFeature,
  EnableFeature,
  isSegmentChange,
  RemoveDependencies,
  SetEnvironmentVariants,
  SetStrategyOrder,
  UpdateSegment,
  UpdateStrategy,
  type UpdateStrategyBody,
  type VariantListBody,
} from '@bunting/contracts';
import type { Static } from 'typebox';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiError } from '../api/api-error.ts';
import { call } from '../api/call.ts';
import { notify } from '../shell/toasts.tsx';
import { readProtectedEnvironments } from './edit-protection.tsx';
import { notifyProposed, propose, type Proposed } from './propose.ts';

/** Where a change is made. */
interface ChangeLocation {
  readonly project: string;
  readonly environment: string;
}

interface SubmitOptions {
  /** the entity tag that the changed resource must still have; 412 (`PreconditionFailed`) otherwise */
  readonly ifMatch?: string | undefined;
}

type Variants = Static<typeof VariantListBody>;

/** Makes a change immediately, by the operation of its action. @throws ApiError */
async function makeChange(
  { project, environment }: ChangeLocation,
  change: Change,
  { ifMatch }: SubmitOptions,
): Promise<unknown> {
  if (isSegmentChange(change)) {
    switch (change.action) {
      case 'updateSegment': {
        const { id, ...body } = change.payload;
        return call(UpdateSegment, { params: { id }, body: body as CreateSegmentBody, ifMatch });
      }
      case 'deleteSegment':
        return call(DeleteSegment, { params: { id: change.payload.id }, ifMatch });
      // Nothing in the console makes one but the upload of a list, which proposes it.
      case 'updateSegmentList':
        throw new Error('Only a change request puts a staged list in place.');
      default:
        return change satisfies never;
    }
  }
  const feature = { projectId: project, featureName: change.feature };
  const params = { ...feature, environment };
  switch (change.action) {
    case 'updateEnabled': {
      if (!change.payload.enabled) return call(DisableFeature, { params, ifMatch });
      const { shouldActivateDisabledStrategies } = change.payload;
      const query = shouldActivateDisabledStrategies === undefined ? {} : { shouldActivateDisabledStrategies };
      return call(EnableFeature, { params, query, ifMatch });
    }
    case 'addStrategy':
      return call(AddStrategy, { params, body: change.payload as Static<typeof CreateStrategyBody>, ifMatch });
    case 'updateStrategy': {
      const { id, ...body } = change.payload;
      return call(UpdateStrategy, { params: { ...params, strategyId: id }, body: body as UpdateStrategyBody, ifMatch });
    }
    case 'deleteStrategy':
      return call(DeleteStrategy, { params: { ...params, strategyId: change.payload.id }, ifMatch });
    case 'reorderStrategy':
      return call(SetStrategyOrder, { params, body: [...change.payload], ifMatch });
    case 'patchVariant':
      return call(SetEnvironmentVariants, { params, body: change.payload.variants as Variants, ifMatch });
    case 'archiveFeature':
      return call(ArchiveFeature, { params: feature, ifMatch });
    case 'addDependency':
      return call(AddDependency, { params: feature, body: change.payload, ifMatch });
    case 'deleteDependency':
      return call(RemoveDependencies, { params: feature, ifMatch });
    default:
      return change satisfies never;
  }
}

/** The outcome of a submission: the changes are in force, or they are part of a change request. */
export type SubmitOutcome = { readonly kind: 'made' } | Proposed;

export interface SubmittedChanges extends SubmitOptions {
  /** where the changes are made; without it, in every environment of the project */
  readonly environment?: string | undefined;
  readonly changes: readonly Change[];
  /** makes the changes also where the environment is protected, by the permission to skip change requests */
  readonly isDirect?: boolean;
}

/**
 * Makes changes in one environment or in all, one after the other. If one of these environments is protected and the changes are not
 * direct, it adds all of them to the user's change request instead.
 */
export function useSubmitChanges(project: string) {
  const client = useQueryClient();
  return useMutation<SubmitOutcome, ApiError, SubmittedChanges>({
    mutationFn: async ({ environment, changes, ifMatch, isDirect = false }) => {
      const protectedEnvironments = isDirect ? [] : await readProtectedEnvironments(client, project);
      const protectedEnvironment = protectedEnvironments.find(
        (name) => environment === undefined || name === environment,
      );
      if (protectedEnvironment !== undefined) {
        return propose({ project, environment: protectedEnvironment }, changes);
      }
      // The operations of changes in every environment, such as archiving, have no parameter for one.
      for (const change of changes) await makeChange({ project, environment: environment ?? '' }, change, { ifMatch });
      return { kind: 'made' };
    },
  });
}

/** Says what became of a submission. @param made what is said of changes that are in force */
export function notifySubmitted(outcome: SubmitOutcome, made: string): void {
  return outcome.kind === 'made' ? notify(made) : notifyProposed(outcome);
}
