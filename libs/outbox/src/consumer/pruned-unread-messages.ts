import type { OutboxMessage, OutboxTopic, Producer } from '@bunting/contracts';
import { type ReadDatabase, type Statement, timestampSql, type Tx } from '@bunting/database';

/** Positions from the first to the last, inclusive. */
export interface PositionRange {
  readonly first: number;
  readonly last: number;
}

/** A range of messages that a consumer never received: the producer had pruned them before the consumer could read them. */
export interface PrunedUnreadRange extends PositionRange {
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly noticedAt: string;
}

/** The ranges of positions that are missing among messages which the producer returned for all positions after `from` and up to `upTo`. */
export const gapsBetween = (from: number, messages: readonly OutboxMessage[], upTo: number): PositionRange[] => {
  const ends = [...messages.map(({ position }) => position), upTo + 1];
  return ends.flatMap((end, nth) => {
    const first = (nth === 0 ? from : (ends[nth - 1] as number)) + 1;
    return first < end ? [{ first, last: end - 1 }] : [];
  });
};

/** Stores ranges of positions that the producer no longer had. */
export const recordPrunedUnread = async (
  { query }: Pick<Tx, 'query'>,
  { producer, topic }: Pick<PrunedUnreadRange, 'producer' | 'topic'>,
  ranges: readonly PositionRange[],
): Promise<void> => {
  for (const { first, last } of ranges) {
    await query(
      `insert into missed_message (producer, topic, first, last) values ($1, $2, $3, $4)
       on conflict (producer, topic, first) do update set last = greatest(missed_message.last, excluded.last)`,
      [producer, topic, first, last],
    );
  }
};

const maxListed = 1_000;
const prunedUnread: Statement = {
  name: 'missed-messages',
  text: `select producer, topic, first, last, ${timestampSql('noticed_at')} as "noticedAt"
         from missed_message order by noticed_at, producer, first limit ${maxListed}`,
};

/** The ranges of messages that a consumer never received, in the order of their detection, at most 1,000. */
export const listPrunedUnreadMessages = (database: ReadDatabase): Promise<PrunedUnreadRange[]> =>
  database.read<PrunedUnreadRange>(prunedUnread);
