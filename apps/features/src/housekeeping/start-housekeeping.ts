import { type Loop, startLoop } from '@bunting/runtime';
import type { SubmitImportProposal } from '../operations/features/import-proposal.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { submitImportProposals, runHousekeeping } from './housekeeping.ts';

/** A service that is starting, or restarting, is nothing to warn of. */
const patienceMs = 30_000;

/** Keeps house, and hands imports over, at an interval. Each fails and is retried by itself. */
export const startHousekeeping = (
  work: UnitOfWork,
  {
    intervalMs,
    applicationDays,
    handOver,
    warn,
  }: {
    readonly intervalMs: number;
    readonly applicationDays: number;
    readonly handOver: SubmitImportProposal;
    readonly warn: (message: string) => void;
  },
): Pick<Loop, 'stop'> => {
  const loops = [
    { name: 'The housekeeping of features', run: () => runHousekeeping(work, applicationDays) },
    { name: 'The handover of imports', run: () => submitImportProposals(work, handOver) },
  ].map((job) => startLoop({ ...job, intervalMs, patienceMs, warn }));
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
};
