import { type Database, onlyRow, prepared } from '@bunting/database';
import { searchableTexts } from '../search/event-filters.ts';
import { lockEventLogHead } from './append-store.ts';
import { ensurePartitions } from './retention-store.ts';
import { insertTextsSql, newTextValues, resolveTexts, withDigests } from './text-store.ts';

/** Events whose texts a version before stored with them, so that searches read each: they become few while this version runs. */
const batchSize = 1_000;
/** The texts of a batch in bytes, beyond which it has no further event: a batch is held in memory, while appends wait. */
const batchBytes = 4_000_000;

const selectUnindexed = `
  select event.id, event.created_by as "createdBy", event.data, event.pre_data as "preData", event.tags
  from (
    select id, sum(octet_length(text)) over (order by id) - octet_length(text) as bytes_before
    from (select id, text from event_search where text <> '' order by id limit ${batchSize}) as oldest
  ) as found join event using (id)
  where bytes_before < ${batchBytes} order by event.id`;

const updateIndexed = `
  with texts as (${insertTextsSql(6)}
  ), head as (update event_log_head set texts = $1)
  update event_search set text = '', creator_text = indexed.creator, constant_text = indexed.constant, varying_text = indexed.varying
  from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) as indexed (id, creator, constant, varying)
  where event_search.id = indexed.id`;

interface UnindexedEvent {
  readonly id: number;
  readonly createdBy: string;
  readonly data: unknown;
  readonly preData: unknown;
  readonly tags: { type: string; value: string }[];
}

/** Indexes the texts of a batch of events that a version before appended. @returns the number of events */
export function indexOldestUnindexed(database: Database): Promise<number> {
  return database.transaction(async (tx) => {
    const head = await lockEventLogHead(tx);
    const events = await tx.query<UnindexedEvent>(selectUnindexed);
    if (events.length === 0) return 0;
    await ensurePartitions(tx, head, head.id);
    const texts = await resolveTexts(
      tx,
      events.map((event) => ({ id: event.id, texts: withDigests(searchableTexts(event)) })),
      head.texts,
    );
    await tx.query(updateIndexed, [
      head.texts + texts.added.length,
      events.map(({ id }) => id),
      texts.ids.map(({ creatorText }) => creatorText),
      texts.ids.map(({ constantText }) => constantText),
      texts.ids.map(({ varyingText }) => varyingText),
      ...newTextValues(texts.added),
    ]);
    return events.length;
  });
}

const countUnindexed = prepared("select count(*) as events from event_search where text <> ''");

/** The number of events whose texts are not indexed yet. */
export async function countUnindexedEvents(database: Database): Promise<number> {
  return onlyRow(await database.read<{ events: number }>(countUnindexed)).events;
}

/** Drops the index of the texts that were stored with events, which has none any more. */
export function dropOldTextIndex(database: Database): Promise<void> {
  return database.transaction(async ({ query }) => {
    // A long read must not make later queries queue behind this lock.
    await query("set local lock_timeout = '2s'");
    await query('drop index if exists event_search_by_text');
  });
}
