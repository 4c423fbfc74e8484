import { systemContext, traceparentFrom } from '@bunting/bus';
import { Refusal, systemCaller } from '@bunting/contracts';
import { told } from '../domain/told.ts';
import type { SubmitImportProposal } from '../operations/features/import-proposal.ts';
import type { UnitOfWork, Work } from '../persistence/unit-of-work.ts';

/** How much one transaction takes on. */
const featuresAtOnce = 500;
const figuresAtOnce = 10_000;
const importsAtOnce = 100;
const patienceMs = 30_000;

const anOccasion = () => {
  const now = new Date();
  return {
    ...{ caller: systemCaller, now, deadline: new Date(now.getTime() + patienceMs) },
    traceparent: traceparentFrom(),
  };
};

/** Does one part of the work, in transactions of bounded size, until nothing is left of it. */
const untilDone = async (
  work: UnitOfWork,
  atOnce: number,
  part: (work: Work, atMost: number) => Promise<number>,
): Promise<void> => {
  for (;;) {
    if ((await work(anOccasion(), (tx) => part(tx, atOnce))) < atOnce) return;
  }
};

/**
 * Does what time brings about: features that have outlived their type are told of once, whichever process comes first;
 * figures that have changed since they were told are told; figures that are too old are dropped, and so are applications that were not
 * seen for so many days.
 */
export const runHousekeeping = async (work: UnitOfWork, applicationDays: number): Promise<void> => {
  await untilDone(work, featuresAtOnce, async ({ upkeep, events }, atMost) => {
    await upkeep.unmarkPotentiallyStale();
    const aged = await upkeep.markPotentiallyStale(atMost);
    events.record(aged.map((feature) => told('feature-potentially-stale-on', feature)));
    return aged.length;
  });
  await untilDone(work, featuresAtOnce, ({ upkeep }, atMost) => upkeep.emitUsageStates(atMost));
  await untilDone(work, figuresAtOnce, ({ upkeep }, atMost) => upkeep.deleteExpiredUsage(atMost));
  await untilDone(work, figuresAtOnce, ({ upkeep }, atMost) => upkeep.deleteInactiveInstances(atMost));
  await untilDone(work, figuresAtOnce, ({ upkeep }, atMost) =>
    upkeep.deleteInactiveApplications(applicationDays, atMost),
  );
};

/**
 * Has change requests made of what imports proposed, where the one who imported did not get that far. One that is refused holds
 * up none that came later.
 */
export const submitImportProposals = async (work: UnitOfWork, handOver: SubmitImportProposal): Promise<void> => {
  const waiting = await work(anOccasion(), ({ importProposals }) => importProposals.listPending(importsAtOnce));
  const refusals: Refusal[] = [];
  for (const importId of waiting) {
    await handOver(importId, systemContext(patienceMs)).catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.kind === 'ServiceUnavailable') throw error;
      refusals.push(error);
    });
  }
  if (refusals[0] !== undefined) throw refusals[0];
};
