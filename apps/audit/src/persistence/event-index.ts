import type { SchemaStep, Tx } from '@bunting/database';
import { knownTerms } from './known-terms.ts';
import { beginLength, blockLength, groupLength, postingOf, rareRange } from './postings.ts';
import { digestOf, type Term, type Termed, termsIn } from './terms.ts';

/** The first index, which knew of texts, types, projects and features alone; see `eventTerms`. */
export const eventIndex: SchemaStep = {
  name: '2026-11-24-event-index',
  statements: [
    `create table event_part (
      id bigint generated always as identity primary key,
      kind smallint not null,
      digest uuid not null unique,
      text text not null
    )`,
    'create index event_part_by_text on event_part using gin (text gin_trgm_ops) where kind < 2',
    `create table event_posting (
      part bigint not null,
      seq bigint not null,
      data bytea not null,
      primary key (part, seq)
    ) with (fillfactor = 80)`,
    `create table event_index_head (
      one boolean primary key default true check (one),
      indexed_to bigint not null default 0
    )`,
    'insert into event_index_head default values',
    'drop index event_search_by_text',
  ],
};

/** The second index, which knew of whole texts alone, and not of what they begin with; see `searchTerms`. */
export const eventTerms: SchemaStep = {
  name: '2026-11-25-event-terms',
  statements: [
    `create table event_term (
      id bigint generated always as identity primary key,
      kind smallint not null,
      digest uuid not null unique,
      text text not null
    )`,
    'create index event_term_by_text on event_term using gin (text gin_trgm_ops) where kind < 2',
    `create index event_term_by_day on event_term (text collate "C") where kind = 8`,
    // A row is read whole or not at all: nothing is gained by keeping half of it elsewhere.
    `create table event_term_posting (
      term bigint not null,
      seq bigint not null,
      data text collate "C" not null,
      primary key (term, seq)
    ) with (fillfactor = 80, toast_tuple_target = 8160)`,
    'alter table event_term_posting alter column data set storage external',
    `create table event_term_head (
      one boolean primary key default true check (one),
      indexed_to bigint not null default 0
    )`,
    'insert into event_term_head default values',
    'truncate event_part, event_posting',
    'update event_index_head set indexed_to = 0',
  ],
};

/**
 * `search_term` has everything that events are found by, each once: it is far smaller than the log, since events repeat each
 * other. `search_posting` says in which events each term occurs. Both are made behind the end of the log, a block at a
 * time, and reach up to `search_head.indexed_to`; what is beyond is read. What is found in `within`, needs not be found in
 * the term itself: a shorter one occurs wherever it does. `search_head.stamp` changes with each of them. The
 * tables of the indexes before stay, emptied: what a process of a version before may still write there is read by nobody of
 * this one.
 */
export const searchTerms: SchemaStep = {
  name: '2026-11-26-search-terms',
  statements: [
    `create table search_term (
      id bigint generated always as identity primary key,
      kind smallint not null,
      digest uuid not null unique,
      text text not null,
      within text not null
    )`,
    `create index search_term_by_text on search_term using gin (text gin_trgm_ops) where kind < 4`,
    `create index search_term_by_day on search_term (text collate "C") where kind >= 12`,
    // A row is read whole or not at all: nothing is gained by keeping half of it elsewhere.
    `create table search_posting (
      term bigint not null,
      seq bigint not null,
      data text collate "C" not null,
      primary key (term, seq)
    ) with (fillfactor = 80, toast_tuple_target = 8160)`,
    'alter table search_posting alter column data set storage external',
    `create table search_head (
      one boolean primary key default true check (one),
      indexed_to bigint not null default 0,
      stamp uuid not null default gen_random_uuid()
    )`,
    'insert into search_head default values',
    'truncate event_term, event_term_posting',
    'update event_term_head set indexed_to = 0',
  ],
};

const blockOf = `
  select found.id, found.type, found.project, found.feature_name as feature, found.text, event.environment,
    event.created_by_user_id as creator, to_char(event.created_at at time zone 'UTC', 'YYYY-MM-DD') as day
  from event_search as found join event on event.id = found.id
  where found.id between $1 and $2 and event.id between $1 and $2 order by found.id`;
// Nobody else indexes meanwhile.
const idsOfTerms = `
  with asked as materialized (
    select asked.*, known.id
    from unnest($1::smallint[], $2::uuid[], $3::text[], $4::text[]) with ordinality as asked (kind, digest, text, within, nth)
    left join search_term as known on known.digest = asked.digest
  ), added as (
    insert into search_term (kind, digest, text, within)
    select kind, digest, text, within from asked where id is null order by nth
    returning id, digest
  )
  select coalesce(asked.id, added.id) as id
  from asked left join added on added.digest = asked.digest and asked.id is null order by nth`;
// Rows are written in the order in which they are stored. Postings come as one text, which is read faster than a list.
const insertPostings = `
  insert into search_posting as known (term, seq, data)
  select term, seq, data from unnest($1::bigint[], $2::bigint[], string_to_array($3, ',')) as told (term, seq, data)
  order by term
  on conflict (term, seq) do update set data = known.data || substr(excluded.data, 1 + ${beginLength} * (excluded.seq % 2)::int)`;

/**
 * Makes an index of the log, a block at a time. It remembers the ids of terms, since most of a block's are those of the blocks
 * before; what it remembers counts only as long as nobody else writes to the index.
 * @returns what indexes the next block, once the log has all of it, and says how many ids that has: 0 when there is none to index
 */
export const indexing = (known = knownTerms()): ((tx: Tx) => Promise<number>) => {
  const idsOf = async ({ query }: Tx, terms: readonly Term[]): Promise<number[]> => {
    const ids = terms.map(({ kind, text }) => known.idOf(kind, text));
    const missing = terms.filter((_, nth) => ids[nth] === undefined);
    const found = await query<{ id: number }>(idsOfTerms, [
      missing.map(({ kind }) => kind),
      missing.map(({ kind, text }) => digestOf(kind, text)),
      missing.map(({ text }) => text),
      missing.map(({ within }) => within),
    ]);
    for (const [nth, { kind, text }] of missing.entries()) known.add(kind, text, found[nth]?.id as number);
    let next = 0;
    return ids.map((id) => id ?? (found[next++]?.id as number));
  };

  return async (tx) => {
    const { query } = tx;
    // One indexes, and goes on while there is something to do: the others need not wait, and it need not learn anew.
    const [head] = await query<{ from: number; last: number; stamp: string }>(
      `select indexed_to as from, (select id from event_log_head) as last, stamp from search_head for update skip locked`,
    );
    if (head === undefined || head.last < head.from + blockLength - 1) return 0;
    const { from, stamp } = head;
    known.begin(stamp);
    const events = await query<Termed>(blockOf, [from, from + blockLength - 1]);
    const terms = termsIn(events, from, blockLength);
    const ids = await idsOf(tx, terms);
    const postings = terms.map(({ offsets }) => postingOf(from / blockLength, offsets));
    // Numbers need not be escaped one by one, as lists are of which nothing is known.
    const seqs = postings.map(({ seq }) => seq).join(',');
    await query(insertPostings, [`{${ids.join(',')}}`, `{${seqs}}`, postings.map(({ data }) => data).join(',')]);
    // New texts wait in a list for their places in the index, since those of many are found faster than those of each. Every
    // search reads that list, so it is emptied at once.
    await query("select gin_clean_pending_list('search_term_by_text')");
    const [now] = await query<{ stamp: string }>(
      'update search_head set indexed_to = $1, stamp = gen_random_uuid() returning stamp',
      [from + blockLength],
    );
    if (now !== undefined) known.end(now.stamp);
    return blockLength;
  };
};

const gone = `
  with gone as (
    delete from search_posting where ctid = any(array(
      select ctid from search_posting
      where (seq / 2 + 1) * case when seq % 2 = 0 then ${groupLength} else ${rareRange} end <= $1 limit 20000))
    returning term
  )
  select distinct term from gone`;
const unused = `
  delete from search_term where id = any($1::bigint[])
    and not exists (select 1 from search_posting where search_posting.term = search_term.id)`;

/** Drops some of what the index has of events that were dropped; it counts as nothing before. @returns of how many terms */
export const dropPostings = async ({ query }: Tx): Promise<number> => {
  // Nobody indexes meanwhile, so that no term goes that is about to occur again.
  const [head] = await query<{ dropped: number }>(
    'select (select dropped_id + 1 from event_log_head) as dropped from search_head for update',
  );
  const terms = (await query<{ term: number }>(gone, [head?.dropped ?? 0])).map(({ term }) => term);
  if (terms.length > 0) await query(unused, [terms]);
  if (terms.length > 0) await query('update search_head set stamp = gen_random_uuid()');
  return terms.length;
};
