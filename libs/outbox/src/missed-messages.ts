import type { OutboxTopic, Producer } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';

/** Messages that a consumer will never be given: its producer had dropped them before it could ask. */
export interface MissedRange {
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  /** positions in the producer's outbox */
  readonly first: number;
  readonly last: number;
  readonly noticedAt: string;
}

const mostListed = 1_000;
const missed: Statement = {
  name: 'missed-messages',
  text: `select producer, topic, first, last, to_char(noticed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "noticedAt"
         from missed_message order by noticed_at, producer, first limit ${mostListed}`,
};

/** What the consumer of a database has missed, the earliest noticed first. */
export const missedMessages = (database: Database): Promise<MissedRange[]> => database.read<MissedRange>(missed);
