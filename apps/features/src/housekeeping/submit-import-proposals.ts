import { systemContext } from '@bunting/bus';
import { isFinalRefusal, Refusal } from '@bunting/contracts';
import type { SubmitImportProposal } from '../import-export/submit-import-proposal.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { backgroundTimeoutMs, systemTransactionContext } from './system-transaction-context.ts';

/**
 * Submits the proposals of imports whose process ended before it submitted them. A proposal that is refused is deleted, since a retry would
 * be refused, too, and `logError` takes the reason. Continues after a refusal that reports a defect of the change requests service, and
 * throws the first such refusal at the end.
 */
export const submitImportProposals = async (
  transaction: UnitOfWork,
  submit: SubmitImportProposal,
  logError: (message: string) => void,
): Promise<void> => {
  const drop = async (importId: string, { message }: Refusal): Promise<void> => {
    const proposal = await transaction(systemTransactionContext(), async ({ importProposals }) => {
      const found = await importProposals.find(importId);
      await importProposals.remove(importId);
      return found;
    });
    if (proposal === undefined) return;
    const { project, environment, by, changes } = proposal;
    logError(
      `The change request of an import by ${by.name} into ${environment} of project ${project}, with ${changes.length} changes, was refused and is given up: ${message} Import the file again once the reason is gone.`,
    );
  };
  const defects: Refusal[] = [];
  for (const importId of await transaction(systemTransactionContext(), (tx) => tx.importProposals.listPending())) {
    await submit(importId, systemContext(backgroundTimeoutMs)).catch(async (error: unknown) => {
      if (isFinalRefusal(error)) return drop(importId, error);
      if (!(error instanceof Refusal) || error.kind === 'ServiceUnavailable') throw error;
      defects.push(error);
    });
  }
  if (defects[0] !== undefined) throw defects[0];
};
