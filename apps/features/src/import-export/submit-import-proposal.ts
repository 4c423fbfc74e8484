import type { Bus, CallContext } from '@bunting/bus';
import { ProposeImport } from '@bunting/contracts';
import { call } from '../calls.ts';
import type { UnitOfWork, Transaction } from '../unit-of-work/unit-of-work.ts';

/**
 * Submits the stored proposal of an import to the change requests service. Returns the id of the change request; undefined if it was
 * submitted before.
 */
export type SubmitImportProposal = (importId: string, context: CallContext) => Promise<number | undefined>;

/** Submits stored proposals. This can be repeated after a crash at any point: one import creates one change request. */
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
