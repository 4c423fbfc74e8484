import { type OperationRequest, type Bus, call, type CallContext } from '@bunting/bus';
import { type ImportFeatures, ProposeImport } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { validateProposal } from '../../domain/changes/validate-proposal.ts';
import type { ProposedEdits } from '../../domain/import/decide-import.ts';
import { requireProposalSize } from '../../domain/import/protected-parts.ts';
import { activeProjectNotFound } from '../../domain/refusals.ts';
import type { UnitOfWork, Transaction } from '../../persistence/unit-of-work.ts';
import { changeContextOf } from '../changes/change-context.ts';
import { subjectsOf } from '../changes/change-subjects.ts';
import { hiddenProjectsOf } from '../visibility.ts';

// The edits of an import that require a change request: stored with the import, and submitted until the change request exists.

/** A stored proposal of an import. */
export interface StoredImportProposal {
  readonly importId: string;
  readonly environment: string;
  readonly changes: number;
}

/** Validates the changes as they will be when they are applied, and stores them for the change requests service. */
export const storeProposal = async (
  tx: Transaction,
  { body, caller, now }: OperationRequest<typeof ImportFeatures>,
  { environment, changes }: ProposedEdits,
): Promise<StoredImportProposal> => {
  const { project } = body;
  const found = await tx.readChangeContext(subjectsOf(project, changes), hiddenProjectsOf(caller));
  if (found === undefined) throw activeProjectNotFound(project);
  const paths = new Map(body.data.features.map(({ name }, nth) => [name, `/body/data/features/${nth}`]));
  const checked = validateProposal(
    changes,
    [],
    changeContextOf(found, environment, now),
    (nth) => paths.get(changes[nth]?.feature ?? '') ?? '/body/data',
  );
  const features = new Set(changes.map(({ feature }) => feature)).size;
  const importId = randomUUID();
  const proposal = {
    project,
    environment,
    by: { id: caller.id, name: caller.name },
    changes: checked,
    title: `Import of ${features} ${features === 1 ? 'feature' : 'features'}`,
  };
  requireProposalSize(Buffer.byteLength(JSON.stringify(proposal)));
  await tx.importProposals.add(importId, proposal);
  return { importId, environment, changes: changes.length };
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
