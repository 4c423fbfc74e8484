import type { Caller } from '@bunting/contracts';
import { environmentsRequiringChangeRequest } from '../changes/protected-edit.ts';

/** The parts of an import that require a change request, and the environment for which it is created. */
export interface PartsRequiringChangeRequest {
  readonly environment: string;
  /** whether the features' switches, strategies and variants in the environment are protected */
  readonly settings: boolean;
  /** whether dependencies of features are protected; they are the same in every environment */
  readonly dependencies: boolean;
  /** the environment for which the change request is created; undefined if none is needed */
  readonly proposedIn: string | undefined;
}

/** The parts of an import that require a change request of the caller, and the environment for which it is created. */
export const partsRequiringChangeRequest = (
  caller: Caller,
  { project, environment }: { readonly project: string; readonly environment: string },
  protectedEnvironments: readonly string[],
): PartsRequiringChangeRequest => {
  const environments = environmentsRequiringChangeRequest(caller, project, protectedEnvironments);
  const settings = environments.includes(environment);
  return {
    environment,
    settings,
    dependencies: environments.length > 0,
    proposedIn: settings ? environment : environments.at(-1),
  };
};
