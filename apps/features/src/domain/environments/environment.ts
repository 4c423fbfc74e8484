import type {
  CloneEnvironmentBody,
  CreateEnvironmentBody,
  EnvironmentDescription,
  UpdateEnvironmentBody,
} from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';
import { requireUrlFriendlyName } from '../names.ts';
import { isEqual } from '../is-equal.ts';

/** An environment, such as production, in which features are enabled and have strategies. */
export interface StoredEnvironment {
  readonly name: string;
  readonly type: string;
  readonly sortOrder: number;
  readonly enabled: boolean;
  /** whether it cannot be deleted; change requests are another protection (`projects/protection.ts`) */
  readonly protected: boolean;
  /** the minimum of approvals that a project can set for it from now on; null where each project decides */
  readonly requiredApprovals: number | null;
}

/** An environment as clients get it: without `requiredApprovals` where each project decides. */
export const environmentView = ({ requiredApprovals, ...environment }: StoredEnvironment): EnvironmentDescription =>
  requiredApprovals === null ? environment : { ...environment, requiredApprovals };

/** The largest sort order that the API can express. */
const maxSortOrder = 1_000_000_000;

/** A new environment, after the existing ones unless the body has a sort order. The caller checks that its name is free. */
export const newEnvironment = (
  { name, type, enabled = true, sortOrder, requiredApprovals = null }: CreateEnvironmentBody,
  latest: number,
): StoredEnvironment => {
  requireUrlFriendlyName(name);
  const order = sortOrder ?? Math.min(latest + 1, maxSortOrder);
  return { name, type, enabled, sortOrder: order, protected: false, requiredApprovals };
};

/** A clone of an environment, after the existing ones. It can be deleted, even if its source cannot. */
export const clonedEnvironment = (
  source: StoredEnvironment,
  { name, type = source.type }: Pick<CloneEnvironmentBody, 'name' | 'type'>,
  latest: number,
): StoredEnvironment => newEnvironment({ name, type, requiredApprovals: source.requiredApprovals }, latest);

/** The result of an update of an environment. Without a change it has no events. */
export const updateEnvironment = (
  environment: StoredEnvironment,
  {
    type = environment.type,
    sortOrder = environment.sortOrder,
    requiredApprovals = environment.requiredApprovals,
  }: UpdateEnvironmentBody,
): { readonly environment: StoredEnvironment; readonly events: readonly DomainEvent[] } => {
  const after = { ...environment, type, sortOrder, requiredApprovals };
  if (isEqual(after, environment)) return { environment, events: [] };
  const event: DomainEvent = {
    type: 'environment-updated',
    environment: environment.name,
    data: after,
    preData: environment,
  };
  return { environment: after, events: [event] };
};
