import type { SchemaStep, Tx } from '@bunting/database';
import { hash } from 'node:crypto';
import { beginLength, blockLength, groupLength, postingOf, rareRange } from './postings.ts';

/** What an event is found by: a text in its data, a text of what happened and by whom, or something else that it has. */
export const kinds = {
  data: 0,
  who: 1,
  type: 2,
  project: 3,
  feature: 4,
  anyProject: 5,
  environment: 6,
  creator: 7,
  day: 8,
} as const;
export type Kind = (typeof kinds)[keyof typeof kinds];

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

/**
 * `event_term` has everything that events are found by, each once: it is far smaller than the log, since events repeat each
 * other. `event_term_posting` says in which events each term occurs. Both are made behind the end of the log, a block at a
 * time, and reach up to `event_term_head.indexed_to`; what is beyond is read. The tables of the first index stay, emptied:
 * what a process of the version before may still write there is read by nobody of this one.
 */
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
    `create index event_term_by_day on event_term (text collate "C") where kind = ${kinds.day}`,
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

/** What a term is known by, however long it is: the first half of a SHA-256, written as a UUID. */
export const digestOf = (kind: Kind, text: string): string => hash('sha256', `${kind}:${text}`, 'hex').slice(0, 32);

interface Row {
  readonly id: number;
  readonly type: string;
  readonly project: string | null;
  readonly feature: string | null;
  readonly environment: string | null;
  readonly creator: number | null;
  readonly day: string;
  readonly text: string;
}

interface Term {
  readonly kind: Kind;
  readonly text: string;
  readonly offsets: number[];
}

/** The terms of a block, each with where it occurs. */
const collect = (rows: readonly Row[], first: number): Term[] => {
  const known = Object.values(kinds).map(() => new Map<string, number[]>());
  for (const { id, type, project, feature, environment, creator, day, text } of rows) {
    const offset = id - first;
    const add = (kind: Kind, term: string): void => {
      const offsets = known[kind]?.get(term);
      if (offsets === undefined) known[kind]?.set(term, [offset]);
      else if (offsets.at(-1) !== offset) offsets.push(offset);
    };
    const whoEnds = text.indexOf('\u001e');
    if (whoEnds >= 0) for (const who of text.slice(0, whoEnds).split('\u001f')) add(kinds.who, who);
    for (const part of text.slice(whoEnds + 1).split('\u001f')) add(kinds.data, part);
    add(kinds.type, type);
    add(kinds.day, day);
    if (feature !== null) add(kinds.feature, feature);
    if (environment !== null) add(kinds.environment, environment);
    if (creator !== null) add(kinds.creator, String(creator));
    if (project === null) continue;
    add(kinds.project, project);
    add(kinds.anyProject, '');
  }
  return known.flatMap((texts, kind) =>
    Array.from(texts, ([text, offsets]) => ({ kind: kind as Kind, text, offsets })),
  );
};

const blockOf = `
  select found.id, found.type, found.project, found.feature_name as feature, found.text, event.environment,
    event.created_by_user_id as creator, to_char(event.created_at at time zone 'UTC', 'YYYY-MM-DD') as day
  from event_search as found join event on event.id = found.id
  where found.id between $1 and $2 and event.id between $1 and $2 order by found.id`;
// Nobody else indexes meanwhile. Rows are written in the order in which they are stored.
const insertPostings = `
  with asked as materialized (
    select asked.*, known.id
    from unnest($1::smallint[], $2::uuid[], $3::text[], $4::bigint[], $5::text[]) with ordinality
      as asked (kind, digest, text, seq, data, nth)
    left join event_term as known on known.digest = asked.digest
  ), added as (
    insert into event_term (kind, digest, text)
    select kind, digest, text from asked where id is null order by nth
    returning id, digest
  )
  insert into event_term_posting as known (term, seq, data)
  select coalesce(asked.id, added.id) as term, asked.seq, asked.data
  from asked left join added on added.digest = asked.digest and asked.id is null
  order by term
  on conflict (term, seq) do update set data = known.data || substr(excluded.data, 1 + ${beginLength} * (excluded.seq % 2)::int)`;

/** Indexes the next block, once the log has all of it. @returns how many ids it has: 0 when there is none to index. */
export const indexNext = async ({ query }: Tx): Promise<number> => {
  const [head] = await query<{ from: number; last: number }>(
    `select indexed_to as from, (select id from event_log_head) as last from event_term_head for update`,
  );
  if (head === undefined) throw new Error('The index of the event log has no head.');
  const { from, last } = head;
  if (last < from + blockLength - 1) return 0;
  const rows = await query<Row>(blockOf, [from, from + blockLength - 1]);
  const terms = collect(rows, from);
  const postings = terms.map(({ offsets }) => postingOf(from / blockLength, offsets));
  await query(insertPostings, [
    terms.map(({ kind }) => kind),
    terms.map(({ kind, text }) => digestOf(kind, text)),
    terms.map(({ text }) => text),
    postings.map(({ seq }) => seq),
    postings.map(({ data }) => data),
  ]);
  // New texts wait in a list for their places in the index, since those of many are found faster than those of each. Every
  // search reads that list, so it is emptied at once.
  await query("select gin_clean_pending_list('event_term_by_text')");
  await query('update event_term_head set indexed_to = $1', [from + blockLength]);
  return blockLength;
};

const gone = `
  with gone as (
    delete from event_term_posting where ctid = any(array(
      select ctid from event_term_posting
      where (seq / 2 + 1) * case when seq % 2 = 0 then ${groupLength} else ${rareRange} end <= $1 limit 20000))
    returning term
  )
  select distinct term from gone`;
const unused = `
  delete from event_term where id = any($1::bigint[])
    and not exists (select 1 from event_term_posting where event_term_posting.term = event_term.id)`;

/** Drops some of what the index has of events that were dropped; it counts as nothing before. @returns of how many terms */
export const dropPostings = async ({ query }: Tx): Promise<number> => {
  // Nobody indexes meanwhile, so that no term goes that is about to occur again.
  const [head] = await query<{ dropped: number }>(
    'select (select dropped_id + 1 from event_log_head) as dropped from event_term_head for update',
  );
  const terms = (await query<{ term: number }>(gone, [head?.dropped ?? 0])).map(({ term }) => term);
  if (terms.length > 0) await query(unused, [terms]);
  return terms.length;
};
