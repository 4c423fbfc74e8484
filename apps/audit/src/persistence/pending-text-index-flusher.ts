import { type Database, onlyRow, type Statement } from '@bunting/database';

const mergePending: Statement = {
  name: 'merge-pending-texts',
  text: `select coalesce(sum(gin_clean_pending_list(relid)), 0)::bigint as pages
         from pg_partition_tree('event_search_by_text') where isleaf`,
};

/**
 * Merges the pending lists of the trigram index, which every search by text reads from beginning to end. An append merges a list that
 * exceeds its limit, so this merges what remains below the limit.
 */
export const pendingTextIndexFlusher = (database: Database) => {
  let mayHavePending = true;
  return {
    /** Records that texts were appended, which are pending until they are merged. */
    textsAppended: (): void => {
      mayHavePending = true;
    },
    /** Merges the pending texts, unless the last merge found none and no text was appended since. @returns 0: nothing is left to merge */
    merge: async (): Promise<number> => {
      if (!mayHavePending) return 0;
      mayHavePending = onlyRow(await database.query<{ pages: number }>(mergePending)).pages > 0;
      return 0;
    },
  };
};
