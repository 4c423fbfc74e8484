import {
  type Caller,
  type FeatureChange,
  maxChangesPerChangeRequest,
  type Refusal,
  refusal,
  requireMayPropose,
} from '@bunting/contracts';
import { environmentsRequiringChangeRequest } from '../projects/protected-edit.ts';

/** Which parts of an import need a change request, and for which environment it is created. */
export interface ProtectedParts {
  readonly environment: string;
  /** switch, strategies and variants in the environment */
  readonly settings: boolean;
  /** whether dependencies of features are protected; they are the same in every environment */
  readonly dependencies: boolean;
  /** the environment for which the change request is created; undefined if none is needed */
  readonly proposedIn: string | undefined;
}

/** The parts of an import that require a change request of the caller, and the environment for which it is created. */
export const protectedParts = (
  caller: Caller,
  { project, environment }: { readonly project: string; readonly environment: string },
  protectedEnvironments: readonly string[],
): ProtectedParts => {
  const environments = environmentsRequiringChangeRequest(caller, project, protectedEnvironments);
  const settings = environments.includes(environment);
  return {
    environment,
    settings,
    dependencies: environments.length > 0,
    proposedIn: settings ? environment : environments.at(-1),
  };
};

/** A proposal must fit into one message of the bus; the bus carries imports of up to 16 MB. */
const maxProposalBytes = 8 * 1024 * 1024;

const tooManyFeatures = (reason: string): Refusal => {
  const message = `The import takes a change request of ${reason}. Import fewer features.`;
  return refusal('ExceedsLimitError', message, { details: [{ message, path: '/body/data/features' }] });
};

/** Refuses changes that exceed a change request, or that the caller may not propose. */
export const requireProposable = (caller: Caller, project: string, changes: readonly FeatureChange[]): void => {
  requireMayPropose(caller, project);
  if (changes.length > maxChangesPerChangeRequest) {
    throw tooManyFeatures(`${changes.length} changes, and one can hold at most ${maxChangesPerChangeRequest}`);
  }
};

/** Refuses a proposal that is too large, with the snapshots of its changes. */
export const requireProposalSize = (bytes: number): void => {
  if (bytes > maxProposalBytes)
    throw tooManyFeatures(`more than ${maxProposalBytes} bytes, with what it would replace`);
};
