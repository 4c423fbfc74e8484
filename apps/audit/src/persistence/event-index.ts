import type { SchemaStep, Tx } from '@bunting/database';
import { hash } from 'node:crypto';
import { blockLength, postingOf, rareRange } from './postings.ts';

/** What an event is found by: a text in its data, a text of what happened and by whom, or one of its columns. */
export const kinds = { data: 0, who: 1, type: 2, project: 3, feature: 4, anyProject: 5 } as const;
export type Kind = (typeof kinds)[keyof typeof kinds];

/**
 * `event_part` has everything that events are found by, each once: it is far smaller than the log, since events repeat each
 * other. `event_posting` says in which events each part occurs. Both are made behind the end of the log, a block at a time,
 * and reach up to `event_index_head.indexed_to`; what is beyond is read.
 */
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

/** What a part is known by, however long it is: the first half of a SHA-256, written as a UUID. */
export const digestOf = (kind: Kind, text: string): string => hash('sha256', `${kind}:${text}`, 'hex').slice(0, 32);

interface Row {
  readonly id: number;
  readonly type: string;
  readonly project: string | null;
  readonly feature: string | null;
  readonly text: string;
}

interface Part {
  readonly kind: Kind;
  readonly digest: string;
  readonly text: string;
  readonly offsets: number[];
}

const partsOf = function* ({ type, project, feature, text }: Row): Generator<[Kind, string]> {
  const whoEnds = text.indexOf('\u001e');
  if (whoEnds >= 0) for (const who of text.slice(0, whoEnds).split('\u001f')) yield [kinds.who, who];
  for (const part of text.slice(whoEnds + 1).split('\u001f')) yield [kinds.data, part];
  yield [kinds.type, type];
  if (feature !== null) yield [kinds.feature, feature];
  if (project === null) return;
  yield [kinds.project, project];
  yield [kinds.anyProject, ''];
};

/** The parts of a block, each with where it occurs. */
const collect = (rows: readonly Row[], first: number): Part[] => {
  const parts = new Map<string, Part>();
  for (const row of rows) {
    for (const [kind, text] of partsOf(row)) {
      const key = `${kind}${text}`;
      let part = parts.get(key);
      if (part === undefined) {
        part = { kind, digest: digestOf(kind, text), text, offsets: [] };
        parts.set(key, part);
      }
      const offset = row.id - first;
      if (part.offsets.at(-1) !== offset) part.offsets.push(offset);
    }
  }
  // In one order, so that the rows of an index that belong together are written together.
  return [...parts.values()].sort((one, other) => (one.digest < other.digest ? -1 : 1));
};

const blockOf =
  'select id, type, project, feature_name as feature, text from event_search where id between $1 and $2 order by id';
const insertParts = `
  insert into event_part (kind, digest, text)
  select kind, digest, text from unnest($1::smallint[], $2::uuid[], $3::text[]) as part (kind, digest, text)
  where not exists (select 1 from event_part as known where known.digest = part.digest)
  on conflict (digest) do nothing`;
const insertPostings = `
  insert into event_posting (part, seq, data)
  select event_part.id, posting.seq, decode(posting.data, 'hex')
  from unnest($1::uuid[], $2::bigint[], $3::text[]) as posting (digest, seq, data)
  join event_part on event_part.digest = posting.digest
  on conflict (part, seq) do update set data = event_posting.data || excluded.data`;

/** Indexes the next block, once the log has all of it. @returns how many ids it has: 0 when there is none to index. */
export const indexNext = async ({ query }: Tx): Promise<number> => {
  const [head] = await query<{ from: number; last: number }>(
    `select indexed_to as from, (select id from event_log_head) as last from event_index_head for update`,
  );
  if (head === undefined) throw new Error('The index of the event log has no head.');
  const { from, last } = head;
  if (last < from + blockLength - 1) return 0;
  const rows = await query<Row>(blockOf, [from, from + blockLength - 1]);
  const parts = collect(rows, from);
  const postings = parts.map(({ offsets }) => postingOf(from / blockLength, offsets));
  const digests = parts.map(({ digest }) => digest);
  await query(insertParts, [parts.map(({ kind }) => kind), digests, parts.map(({ text }) => text)]);
  await query(insertPostings, [
    digests,
    postings.map(({ seq }) => seq),
    postings.map(({ data }) => data.toString('hex')),
  ]);
  await query('update event_index_head set indexed_to = $1', [from + blockLength]);
  return blockLength;
};

const gone = `
  with gone as (
    delete from event_posting where ctid = any(array(
      select ctid from event_posting
      where (seq >= 0 and (seq + 1) * ${blockLength} <= $1) or (seq < 0 and -seq * ${rareRange} <= $1) limit 20000))
    returning part
  )
  select distinct part from gone`;
const unused = `
  delete from event_part where id = any($1::bigint[])
    and not exists (select 1 from event_posting where event_posting.part = event_part.id)`;

/** Drops some of what the index has of events that were dropped; it counts as nothing before. @returns of how many parts */
export const dropPostings = async ({ query }: Tx): Promise<number> => {
  // Nobody indexes meanwhile, so that no part goes that is about to occur again.
  const [head] = await query<{ dropped: number }>(
    'select (select dropped_id + 1 from event_log_head) as dropped from event_index_head for update',
  );
  const parts = (await query<{ part: number }>(gone, [head?.dropped ?? 0])).map(({ part }) => part);
  if (parts.length > 0) await query(unused, [parts]);
  return parts.length;
};
