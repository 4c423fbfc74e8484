import type { OutboxTopic, Producer } from '@bunting/contracts';
import { type Database, type Statement, timestampSql } from '@bunting/database';

/** A range of messages that a consumer never received: the producer had pruned them before the consumer could read them. */
export interface MissedRange {
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  /** positions in the producer's outbox */
  readonly first: number;
  readonly last: number;
  readonly noticedAt: string;
}

const maxListed = 1_000;
const missed: Statement = {
  name: 'missed-messages',
  text: `select producer, topic, first, last, ${timestampSql('noticed_at')} as "noticedAt"
         from missed_message order by noticed_at, producer, first limit ${maxListed}`,
};

/** The ranges of messages that a consumer has missed, in the order of their detection, at most 1,000. */
export const missedMessages = (database: Database): Promise<MissedRange[]> => database.read<MissedRange>(missed);
