import { type OperationRequest, type Bus, call, type CallContext } from '@bunting/bus';
import {
  type Caller,
  type FeatureChange,
  type ImportFeatures,
  maxChangesPerChangeRequest,
  notFound,
  ProposeImport,
  refusal,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { checkChanges } from '../../domain/changes/check-changes.ts';
import { environmentsRequiringChangeRequest } from '../../domain/projects/protection.ts';
import { shortName } from '../../domain/refusals.ts';
import type { UnitOfWork, Transaction } from '../../persistence/unit-of-work.ts';
import { subjectsOf } from '../changes/change-subjects.ts';
import { hiddenProjectsOf } from '../visibility.ts';

// The edits of an import that require a change request: stored with the import, and submitted until the change request exists.

/** A proposal must fit into one message of the bus; the bus carries imports of up to 16 MB. */
const maxBytes = 8 * 1024 * 1024;

/** A stored proposal of an import. */
export interface StoredImportProposal {
  readonly importId: string;
  readonly environment: string;
  readonly changes: number;
}

/** The parts of an import that require a change request of the caller, and the environment for which it is created. */
export const protectionOf = (
  caller: Caller,
  { project, environment }: { readonly project: string; readonly environment: string },
  protectedEnvironments: readonly string[],
) => {
  const environments = environmentsRequiringChangeRequest(caller, project, protectedEnvironments);
  const settings = environments.includes(environment);
  return {
    environment,
    settings,
    dependencies: environments.length > 0,
    proposedIn: settings ? environment : environments.at(-1),
  };
};

/** Refuses changes that exceed a change request, or that the caller may not propose. */
export const requireProposable = (caller: Caller, project: string, changes: readonly FeatureChange[]): void => {
  if (changes.length === 0) return;
  if (caller.proposalDeniedProjects?.includes(project) === true) {
    throw refusal('NoAccessError', 'The project is protected: only its members and administrators may propose changes');
  }
  if (changes.length > maxChangesPerChangeRequest) {
    const message = `The import takes a change request of ${changes.length} changes, and one can hold at most ${maxChangesPerChangeRequest}. Import fewer features.`;
    throw refusal('ExceedsLimitError', message, { details: [{ message, path: '/body/data/features' }] });
  }
};

/** Validates the changes as they will be when they are applied, and stores them for the change requests service. */
export const storeProposal = async (
  tx: Transaction,
  { body, caller, now }: OperationRequest<typeof ImportFeatures>,
  changes: readonly FeatureChange[],
  proposedIn: string,
): Promise<StoredImportProposal> => {
  const { project } = body;
  requireProposable(caller, project, changes);
  const found = await tx.readChangeContext(subjectsOf(project, changes), hiddenProjectsOf(caller));
  if (found === undefined) throw notFound(`Active project with id ${shortName(project)} does not exist`);
  const changeContext = { ...found, environment: proposedIn, now: now.toISOString(), generateStrategyId: randomUUID };
  const paths = new Map(body.data.features.map(({ name }, nth) => [name, `/body/data/features/${nth}`]));
  const checked = checkChanges(
    changes,
    [],
    changeContext,
    (nth) => paths.get(changes[nth]?.feature ?? '') ?? '/body/data',
  );
  const features = new Set(changes.map(({ feature }) => feature)).size;
  const importId = randomUUID();
  const proposal = {
    project,
    environment: proposedIn,
    by: { id: caller.id, name: caller.name },
    changes: checked,
    title: `Import of ${features} ${features === 1 ? 'feature' : 'features'}`,
  };
  if (Buffer.byteLength(JSON.stringify(proposal)) > maxBytes) {
    const message = `The import takes a change request of more than ${maxBytes} bytes, with what it would replace. Import fewer features.`;
    throw refusal('ExceedsLimitError', message, { details: [{ message, path: '/body/data/features' }] });
  }
  await tx.importProposals.add(importId, proposal);
  return { importId, environment: proposedIn, changes: changes.length };
};

/** Submits a stored proposal to the change requests service. Returns the id of the change request; undefined if it was submitted before. */
export type SubmitImportProposal = (importId: string, context: CallContext) => Promise<number | undefined>;

/** Safe to repeat after a crash at any point: one import creates one change request. */
export const submitImportProposal =
  (bus: Bus, transaction: UnitOfWork): SubmitImportProposal =>
  async (importId, context) => {
    const { caller, traceparent } = context;
    const inTransaction = <T>(job: (tx: Transaction) => Promise<T>): Promise<T> => {
      const now = new Date();
      return transaction({ caller, traceparent, now, deadline: new Date(now.getTime() + context.timeoutMs) }, job);
    };
    const proposal = await inTransaction(({ importProposals }) => importProposals.find(importId));
    if (proposal === undefined) return undefined;
    const { id } = await call(bus, ProposeImport, { body: { importId, ...proposal } }, context);
    await inTransaction(({ importProposals }) => importProposals.remove(importId));
    return id;
  };
