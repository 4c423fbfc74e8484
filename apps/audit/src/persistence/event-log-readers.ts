import type { ReadDatabase } from '@bunting/database';
import { listDeadLetters, listPrunedUnreadMessages } from '@bunting/outbox';
import pLimit from 'p-limit';
import { logSize } from './log/log-size.ts';
import { verifyChain, type VerificationOptions } from '../log/chain-store.ts';
import { eventFeed } from './search/event-feed.ts';
import { eventSearch } from '../search/search-store.ts';
import { eventCreators } from './statistics/event-creators.ts';
import { projectActivity } from '../statistics/statistics-store.ts';

/** The reads of the event log. Verifications of the chain run one at a time in a process, because each may read the entire log. */
export const eventLogReaders = (database: ReadDatabase) => {
  const verificationLimit = pLimit(1);
  return {
    search: eventSearch(database),
    readFeed: eventFeed(database),
    creatorsOf: eventCreators(database),
    activityOf: projectActivity(database),
    logSize: () => logSize(database),
    verifyChain: (options: VerificationOptions) => verificationLimit(() => verifyChain(database, options)),
    prunedUnreadMessages: () => listPrunedUnreadMessages(database),
    /** the events that this service could not append */
    deadLetters: () => listDeadLetters(database),
  };
};

export type EventLogReaders = ReturnType<typeof eventLogReaders>;
