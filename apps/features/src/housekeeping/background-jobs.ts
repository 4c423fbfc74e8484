import { type Log, type Loop, startLoop } from '@bunting/runtime';
import type { SubmitImportProposal } from '../import-export/submit-import-proposal.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { runHousekeeping } from './housekeeping.ts';
import { submitImportProposals } from './submit-import-proposals.ts';

/** Runs are not logged as failed before they have failed for this time, as they do while another service starts. */
const logAfterFailingForMs = 30_000;

interface BackgroundJobsOptions {
  readonly intervalMs: number;
  readonly applicationDays: number;
  readonly submitImportProposal: SubmitImportProposal;
  readonly log: Log;
}

/**
 * Runs housekeeping, and submits import proposals, at an interval. Each of the two is retried by itself. Proposals that an ended process
 * left are submitted at the start; housekeeping waits for one interval first, since a start has more urgent work.
 */
export const startBackgroundJobs = (
  transaction: UnitOfWork,
  { intervalMs, applicationDays, submitImportProposal, log }: BackgroundJobsOptions,
): Pick<Loop, 'stop'> => {
  const loops = [
    {
      name: 'The housekeeping of features',
      run: () => runHousekeeping(transaction, applicationDays),
      firstAfterMs: intervalMs,
    },
    {
      name: 'The submission of import proposals',
      run: () => submitImportProposals(transaction, submitImportProposal, (message) => log.error(message)),
    },
  ].map((job) => startLoop({ ...job, intervalMs, logAfterFailingForMs, log }));
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
};
