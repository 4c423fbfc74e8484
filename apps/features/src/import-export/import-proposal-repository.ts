import type { ProposeImport, RequestOf } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { ImportProposalEntity } from '../unit-of-work/entities.ts';

/** The changes of an import that require a change request. */
export type ImportProposal = Omit<RequestOf<typeof ProposeImport>['body'], 'importId'>;

/** Import proposals that have no change request yet. They are stored in the transaction of the import, so that none is lost. */
export const importProposalRepository = (tx: Tx) => ({
  add: async (id: string, proposal: ImportProposal): Promise<void> => {
    await tx.em.insert(ImportProposalEntity, { id, proposal });
  },
  /** Returns undefined once the change request was created. */
  find: async (id: string): Promise<ImportProposal | undefined> => {
    const text = 'select proposal from import_proposal where id = $1';
    return (await tx.query<{ proposal: ImportProposal }>(text, [id]))[0]?.proposal;
  },
  /** The ids of all proposals, oldest first. */
  listPending: async (): Promise<string[]> => {
    const text = 'select id from import_proposal order by created_at, id';
    return (await tx.query<{ id: string }>(text)).map(({ id }) => id);
  },
  remove: async (id: string): Promise<void> => {
    await tx.em.nativeDelete(ImportProposalEntity, { id });
  },
});
