import { featureEvent } from '../features/feature.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { systemTransactionContext } from './system-transaction-context.ts';

/** The maximum number of rows in one transaction. */
const batchSizes = { features: 500, usageRows: 10_000 };

/** Repeats a step in transactions of at most `batchSize` rows until it finds no full batch. */
const repeatUntilDone = async (
  transaction: UnitOfWork,
  batchSize: number,
  step: (tx: Transaction, limit: number) => Promise<number>,
): Promise<void> => {
  for (;;) {
    if ((await transaction(systemTransactionContext(), (tx) => step(tx, batchSize))) < batchSize) return;
  }
};

/**
 * Marks features that have outlived the lifetime of their type, emits usage that changed since it was last emitted, deletes usage after its
 * retention period, and deletes applications without a report for `applicationDays`. Safe in several processes concurrently: each feature
 * is marked by one of them.
 */
export const runHousekeeping = async (transaction: UnitOfWork, applicationDays: number): Promise<void> => {
  const { features, usageRows } = batchSizes;
  await repeatUntilDone(transaction, features, async ({ housekeeping }, limit) => {
    await housekeeping.unmarkPotentiallyStale();
    return housekeeping.markPotentiallyStale(limit, (marked) =>
      marked.map((feature) => featureEvent('feature-potentially-stale-on', feature)),
    );
  });
  await repeatUntilDone(transaction, features, ({ housekeeping }, limit) => housekeeping.emitUsageStates(limit));
  await repeatUntilDone(transaction, usageRows, ({ housekeeping }, limit) => housekeeping.deleteExpiredUsage(limit));
  await repeatUntilDone(transaction, usageRows, ({ housekeeping }, limit) =>
    housekeeping.deleteInactiveInstances(limit),
  );
  await repeatUntilDone(transaction, usageRows, ({ housekeeping }, limit) =>
    housekeeping.deleteInactiveApplications(applicationDays, limit),
  );
};
