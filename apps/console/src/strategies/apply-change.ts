import {
  AddChanges,
  AddDependency,
  AddStrategy,
  ArchiveFeature,
  type ChangeRequest,
  type CreateStrategyBody,
  DeleteStrategy,
  DisableFeature,
  EnableFeature,
  type FeatureChange,
  GetChangeRequestConfig,
  RemoveDependencies,
  SetEnvironmentVariants,
  SetStrategyOrder,
  UpdateStrategy,
  type UpdateStrategyBody,
  type VariantListBody,
} from '@bunting/contracts';
import type { Static } from 'typebox';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ApiError } from '../api/api-error.ts';
import { call } from '../api/call.ts';
import { operationQuery } from '../api/queries.ts';

/** Where a change is made. */
interface Place {
  readonly project: string;
  readonly environment: string;
}

interface Options {
  /** the entity tag that what is changed must still have; 412 when it has changed */
  readonly ifMatch?: string | undefined;
}

type Variants = Static<typeof VariantListBody>;

/** Makes a change immediately, by the operation of its action. @throws ApiError */
const make = async ({ project, environment }: Place, change: FeatureChange, { ifMatch }: Options): Promise<unknown> => {
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
  }
};

/** What became of a change: it is in force, or it waits in a change request. */
export type Outcome =
  { readonly kind: 'made' } | { readonly kind: 'proposed'; readonly changeRequest: Pick<ChangeRequest, 'id'> };

export interface ChangeToApply extends Options {
  readonly environment: string;
  readonly changes: readonly FeatureChange[];
  /** makes the changes also where the environment is protected, by the permission to skip change requests */
  readonly isDirect?: boolean;
}

/** The environments of a project in which edits need a change request; undefined until they are loaded. */
export const useProtectedEnvironments = (project: string): ReadonlySet<string> | undefined => {
  const { data } = useQuery({
    ...operationQuery(GetChangeRequestConfig, { params: { projectId: project } }),
    staleTime: 60_000,
  });
  return data && new Set(data.filter((config) => config.changeRequestEnabled).map(({ environment }) => environment));
};

/**
 * Makes changes in an environment, one after the other; where the environment is protected and they are not direct, proposes them all in
 * the user's change request. Success or not, all queries are invalidated afterwards.
 */
export const useApplyChanges = (project: string) => {
  const client = useQueryClient();
  const config = operationQuery(GetChangeRequestConfig, { params: { projectId: project } });
  return useMutation<Outcome, ApiError, ChangeToApply>({
    mutationFn: async ({ environment, changes, ifMatch, isDirect = false }) => {
      const protection = await client.ensureQueryData({ ...config, staleTime: 60_000 });
      const isProtected = protection.some((one) => one.environment === environment && one.changeRequestEnabled);
      if (isProtected && !isDirect) {
        const params = { projectId: project, environment };
        return { kind: 'proposed', changeRequest: await call(AddChanges, { params, body: changes }) };
      }
      for (const change of changes) await make({ project, environment }, change, { ifMatch });
      return { kind: 'made' };
    },
    onSettled: () => client.invalidateQueries(),
  });
};
