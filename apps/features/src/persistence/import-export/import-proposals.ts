import type { ProposeImport, RequestOf } from '@bunting/contracts';
import type { Tx } from '@bunting/database';

/** What an import proposes instead of doing it. */
export type ImportProposal = Omit<RequestOf<typeof ProposeImport>['body'], 'importId'>;

/** Proposals of imports that change requests are still to be made of. They are kept with the import, so that none is lost. */
export const importProposals = ({ query }: Tx) => ({
  add: async (id: string, proposal: ImportProposal): Promise<void> => {
    await query('insert into import_proposal (id, proposal) values ($1, $2)', [id, JSON.stringify(proposal)]);
  },
  /** The proposal; none once a change request was made of it. */
  find: async (id: string): Promise<ImportProposal | undefined> => {
    const text = 'select proposal from import_proposal where id = $1';
    return (await query<{ proposal: ImportProposal }>(text, [id]))[0]?.proposal;
  },
  /** Ids of some that wait, oldest first. */
  listPending: async (atMost: number): Promise<string[]> => {
    const text = 'select id from import_proposal order by created_at, id limit $1';
    return (await query<{ id: string }>(text, [atMost])).map(({ id }) => id);
  },
  remove: async (id: string): Promise<void> => {
    await query('delete from import_proposal where id = $1', [id]);
  },
});
export type ImportProposals = ReturnType<typeof importProposals>;
