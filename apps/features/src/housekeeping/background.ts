import { type Bus, systemContext } from '@bunting/bus';
import { FindNeededSegmentLists, isFinalRefusal, maxStagedListsPerCall, Refusal } from '@bunting/contracts';
import { type Log, type Loop, startLoop } from '@bunting/runtime';
import { callIfSupported } from '../calls.ts';
import { makeDeferredEdits } from '../deferred-edits/background.ts';
import { featureEvent } from '../features/feature.ts';
import type { SubmitImportProposal } from '../import-export/endpoints.ts';
import type { Deferred, Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { backgroundTimeoutMs, systemTransactionContext } from '../background.ts';

/** The maximum number of rows in one transaction. */
const batchSizes = { features: 500, usageRows: 10_000, pieces: 100, blocks: 1_000 };

/** Repeats a step in transactions of at most `batchSize` rows until it finds no full batch. */
async function repeatUntilDone(
  transaction: UnitOfWork,
  batchSize: number,
  step: (tx: Transaction, limit: number) => Promise<number>,
): Promise<void> {
  for (;;) {
    if ((await transaction(systemTransactionContext(), (tx) => step(tx, batchSize))) < batchSize) return;
  }
}

/**
 * Marks features that have outlived the lifetime of their type, emits usage that changed since it was last emitted, rolls usage up and
 * deletes it after its retention periods, deletes applications without a report for `applicationDays`, and what uploads and changes of the
 * lists of segments have left. Safe in several processes concurrently: each feature
 * is marked by one of them.
 */
export async function runHousekeeping(transaction: UnitOfWork, applicationDays: number): Promise<void> {
  const { features, usageRows, pieces, blocks } = batchSizes;
  await repeatUntilDone(transaction, features, async ({ housekeeping }, limit) => {
    await housekeeping.unmarkPotentiallyStale();
    return housekeeping.markPotentiallyStale(limit, (marked) =>
      marked.map((feature) => featureEvent('feature-potentially-stale-on', feature)),
    );
  });
  await repeatUntilDone(transaction, features, ({ housekeeping }, limit) => housekeeping.emitUsageStates(limit));
  await repeatUntilDone(transaction, usageRows, ({ housekeeping }, limit) => housekeeping.rollUpExpiredUsage(limit));
  await repeatUntilDone(transaction, usageRows, ({ housekeeping }, limit) => housekeeping.deleteOldSums(limit));
  await repeatUntilDone(transaction, usageRows, ({ housekeeping }, limit) =>
    housekeeping.deleteInactiveInstances(limit),
  );
  await repeatUntilDone(transaction, usageRows, ({ housekeeping }, limit) =>
    housekeeping.deleteInactiveApplications(applicationDays, limit),
  );
  await repeatUntilDone(transaction, pieces, ({ segmentLists }, limit) => segmentLists.deleteOldPieces(limit));
  await repeatUntilDone(transaction, blocks, ({ segmentLists }, limit) => segmentLists.deleteReleasedBlocks(limit));
}

/** Emits the states of features that writes have deferred, each batch in a transaction of its own. */
export function emitDeferredStates(transaction: UnitOfWork): Promise<void> {
  return repeatUntilDone(transaction, batchSizes.features, ({ features }, limit) => features.emitDeferredStates(limit));
}

/** Removes the settings in removed environments that writes have deferred, each batch in a transaction of its own. */
export async function removeDeferredSettings(transaction: UnitOfWork): Promise<void> {
  const removeBatch = () =>
    transaction(systemTransactionContext(), ({ features }) => features.removeDeferredSettings(batchSizes.features));
  while (await removeBatch());
}

/** Deletes lists that were uploaded for change requests a day ago or more, and that no open change request names. */
export async function deleteUnneededStagedLists(transaction: UnitOfWork, bus: Bus): Promise<void> {
  for (;;) {
    const lists = await transaction(systemTransactionContext(), (tx) =>
      tx.segmentLists.stagedToDelete(maxStagedListsPerCall),
    );
    if (lists.length === 0) return;
    const context = systemContext(backgroundTimeoutMs);
    const needed = await callIfSupported(bus, FindNeededSegmentLists, { body: { lists } }, context);
    // A change requests service of the version before does not know what it needs.
    if (needed === undefined) return;
    await transaction(systemTransactionContext(), async ({ segmentLists }) => {
      await segmentLists.keepStaged(needed.lists);
      await segmentLists.deleteStaged(lists);
    });
    if (lists.length < maxStagedListsPerCall) return;
  }
}

/**
 * Submits the proposals of imports whose process ended before it submitted them. A proposal that is refused is deleted, since a retry would
 * be refused, too, and `logError` takes the reason. Continues after a refusal that reports a defect of the change requests service, and
 * throws the first such refusal at the end.
 */
export async function submitImportProposals(
  transaction: UnitOfWork,
  submit: SubmitImportProposal,
  logError: (message: string) => void,
): Promise<void> {
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
}

/** Runs are not logged as failed before they have failed for this time, as they do while another service starts. */
const logAfterFailingForMs = 30_000;

/** How long a request makes its deferred edits before it is answered, in milliseconds. */
const maxWaitForEditsMs = 3_000;

interface BackgroundJobsOptions {
  readonly intervalMs: number;
  readonly applicationDays: number;
  readonly submitImportProposal: SubmitImportProposal;
  readonly bus: Bus;
  readonly log: Log;
}

/**
 * Runs housekeeping, submits import proposals, emits deferred states, removes settings in removed environments, makes deferred edits, and
 * deletes unneeded uploads of lists, at an interval. Each is retried by itself. What an ended process left of proposals, states, settings and
 * edits comes at the start; housekeeping waits for one interval first, since a start has more urgent work.
 */
export function startBackgroundJobs(
  transaction: UnitOfWork,
  { intervalMs, applicationDays, submitImportProposal, bus, log }: BackgroundJobsOptions,
): Pick<Loop, 'stop'> & { readonly runDeferred: (deferred: Deferred) => Promise<void> } {
  const start = (job: Pick<Parameters<typeof startLoop>[0], 'name' | 'run' | 'firstAfterMs'>): Loop =>
    startLoop({ ...job, intervalMs, logAfterFailingForMs, log });
  const deferredStates = start({
    name: 'The emission of deferred states',
    run: () => emitDeferredStates(transaction),
  });
  const deferredRemovals = start({
    name: 'The removal of settings in removed environments',
    run: () => removeDeferredSettings(transaction),
  });
  const deferredEdits = start({
    name: 'The edit of very many features',
    run: () => makeDeferredEdits(transaction),
  });
  const loops = [
    deferredStates,
    deferredRemovals,
    deferredEdits,
    start({
      name: 'The housekeeping of features',
      run: () => runHousekeeping(transaction, applicationDays),
      firstAfterMs: intervalMs,
    }),
    start({
      name: 'The deletion of uploaded lists',
      run: () => deleteUnneededStagedLists(transaction, bus),
      firstAfterMs: intervalMs,
    }),
    start({
      name: 'The submission of import proposals',
      run: () => submitImportProposals(transaction, submitImportProposal, (message) => log.error(message)),
    }),
  ];
  return {
    runDeferred: async ({ hasRows, hasEdits }) => {
      if (hasRows) for (const loop of [deferredStates, deferredRemovals]) loop.wake();
      if (!hasEdits) return;
      const waitUntil = performance.now() + maxWaitForEditsMs;
      // What is left, also after a failure, is that of the loop, which reports failures.
      await makeDeferredEdits(transaction, () => performance.now() < waitUntil).catch(() => undefined);
      deferredEdits.wake();
    },
    stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
  };
}
