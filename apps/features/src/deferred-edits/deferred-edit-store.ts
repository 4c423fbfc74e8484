import type { Caller } from '@bunting/contracts';
import { timestampSql, type Tx } from '@bunting/database';
import { type BegunEdit, type DeferredEdit, type EditAuthor, subjectOf } from './deferred-edit.ts';

const begun = `
  select id, details as edit, caller as author, ${timestampSql('begun_at')} as "begunAt", done_up_to as "doneUpTo"
  from deferred_edit`;
const findNext = `${begun} order by id limit 1`;
const findForUpdate = `${begun} where id = $1 for update`;
const add = `
  insert into deferred_edit (kind, subject, details, caller, done_up_to) values ($1, $2, $3, $4, $5) on conflict do nothing`;
const recordProgress = 'update deferred_edit set done_up_to = $2 where id = $1';
const end = 'delete from deferred_edit where kind = $1 and subject = $2';
const isPending = 'select from deferred_edit where kind = $1 and subject = $2';
const isCopied = `select from deferred_edit where kind = 'copy-settings' and $1 in (details ->> 'from', details ->> 'to') limit 1`;

/** Edits of many features within a transaction, of which a write has made the first batch. */
export function deferredEditRepository({ query }: Tx, caller: Caller, onDeferred: () => void) {
  return {
    /** Leaves the rest of an edit to the background. One that is under way already goes on. @param doneUpTo the last name of the first batch */
    add: async (edit: DeferredEdit, doneUpTo = ''): Promise<void> => {
      const { id, name, displayName, username } = caller;
      const author: EditAuthor = { id, name, displayName, username };
      await query(add, [edit.kind, subjectOf(edit), JSON.stringify(edit), JSON.stringify(author), doneUpTo]);
      onDeferred();
    },
    /** The edit that was begun first, without a lock. */
    findNext: async (): Promise<BegunEdit | undefined> => (await query<BegunEdit>(findNext))[0],
    /** Locks an edit, as one process at a time continues it; undefined once it has ended. */
    findForUpdate: async (id: number): Promise<BegunEdit | undefined> =>
      (await query<BegunEdit>(findForUpdate, [id]))[0],
    recordProgress: async (id: number, doneUpTo: string): Promise<void> =>
      void (await query(recordProgress, [id, doneUpTo])),
    /** Ends an edit. Nothing happens if it is not under way. */
    end: async (edit: DeferredEdit): Promise<void> => void (await query(end, [edit.kind, subjectOf(edit)])),
    isPending: async (kind: DeferredEdit['kind'], subject: string): Promise<boolean> =>
      (await query(isPending, [kind, subject])).length > 0,
    /** Whether settings are being copied from an environment or into it. */
    isCopied: async (environment: string): Promise<boolean> => (await query(isCopied, [environment])).length > 0,
  };
}
