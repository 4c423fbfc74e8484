import { systemCaller } from '@bunting/contracts';
import { continueCopy } from '../environments/endpoints.ts';
import { systemTransactionContext } from '../background.ts';
import { continueProjectDeletion } from '../projects/endpoints.ts';
import { continueTagDeletion } from '../tags/endpoints.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { BegunEdit } from './deferred-edit.ts';

/**
 * Makes the edits that writes have deferred, one after the other, each batch in a transaction of its own. Processes that do so concurrently
 * take turns. @param mayContinue asked before each batch
 */
export async function makeDeferredEdits(
  transaction: UnitOfWork,
  mayContinue: () => boolean = () => true,
): Promise<void> {
  while (mayContinue()) {
    const next = await transaction(systemTransactionContext(), (tx) => tx.deferredEdits.findNext());
    if (next === undefined) return;
    const caller = { ...systemCaller, ...next.author };
    await transaction({ ...systemTransactionContext(), caller }, async (tx) => {
      const begun = await tx.deferredEdits.findForUpdate(next.id);
      if (begun !== undefined) await makeNextBatch(tx, begun, caller);
    });
  }
}

async function makeNextBatch(tx: Transaction, begun: BegunEdit, caller: typeof systemCaller): Promise<void> {
  const { id, edit } = begun;
  switch (edit.kind) {
    case 'delete-tag':
      if ((await continueTagDeletion(tx, edit, caller)) !== 'more') await tx.deferredEdits.end(edit);
      return;
    case 'copy-settings': {
      const doneUpTo = await continueCopy(tx, edit, begun);
      if (doneUpTo === undefined) await tx.deferredEdits.end(edit);
      else await tx.deferredEdits.recordProgress(id, doneUpTo);
      return;
    }
    case 'delete-project': {
      const locked = await tx.projects.findForUpdate(edit.project);
      const isDone = locked === undefined || locked.activeFeatures > 0 || (await continueProjectDeletion(tx, locked));
      if (isDone) await tx.deferredEdits.end(edit);
    }
  }
}
