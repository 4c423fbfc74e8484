import { type Endpoint, implement, JsonText } from '@bunting/bus';
import { outboxOperations, type OutboxTopic, type Producer, type StateEntity } from '@bunting/contracts';
import { type Database, onlyRow, prepared, type Statement } from '@bunting/database';
import type { Acknowledgements } from './housekeeping.ts';

const uidAt = `(select uid from outbox where topic = $1 and position = $2)`;

/** The last position of topic `$1`, and the uid of the row at position `$2`. */
const headAndUid = prepared(`select outbox_head($1) as head, ${uidAt} as at`);
const atPosition = prepared(`select ${uidAt} as at`);

/** SQL: a row of the outbox as the message that consumers get, both by call and from the stream. */
const messageJson = `json_build_object(
  'position', position, 'uid', uid, 'type', type, 'recordedAt', recorded_at, 'traceparent', traceparent, 'payload', payload)`;

/**
 * The maximum of a request. The planner expects a tenth of the rows from a limit that it does not know, so behind this one and two such limits
 * it expects ten: however the outbox grows, a plan with sub-selects for each row costs about the same, and is reused.
 */
const maxRows = 1_000;

/** A quarter of the default maximum payload of NATS (1 MiB). */
const pageBytes = 256 * 1024;

/** Looking for repeated states costs half as much as building one, so that it is not worth it for a few rows. */
const minRowsWithRepeats = 20;

/** By type of entity: SQL for the payload of a message with the current state of the entity with an id. */
export type CurrentStates = { readonly [E in StateEntity]?: (id: string) => string };

/** SQL: the payload of a row; of an entity with a statement for its current state, the payload with that state. */
function payloadSql(currentStates: CurrentStates): string {
  const current = Object.entries(currentStates).map(
    ([type, select]) =>
      `when topic = 'state' and type = '${type}' then coalesce((${select(`payload ->> 'id'`)}), payload)`,
  );
  return current.length === 0 ? 'payload' : `case ${current.join(' ')} else payload end as payload`;
}

/**
 * SQL: rows without those that would repeat the current state of an entity, which an earlier row has: one statement reads both. The last row
 * stays, since a page ends with it.
 */
function withoutRepeatedStates(rows: string, currentStates: CurrentStates): string {
  const types = Object.keys(currentStates).map((type) => `'${type}'`);
  return `
  select * from (
    select *, row_number() over (partition by type, payload ->> 'id' order by position) = 1 as is_first,
      position = max(position) over () as is_last
    from (${rows}) as row
  ) as listed where is_first or is_last or topic <> 'state' or type not in (${types.join(', ')})`;
}

interface PageOptions {
  /** a further condition on the rows, beginning with `and` */
  readonly condition?: string;
  readonly currentStates?: CurrentStates;
  /** whether each current state is built once, and for the last row */
  readonly leavesOutRepeats?: boolean;
}

/**
 * SQL: the rows of topic `$1` after a position, limited in number and in the total bytes of their payloads, but at least one. A sub-select
 * hides a value from the planner, so that one generic plan is reused. Only the messages of the page are built.
 */
export function pageAfterSql(
  position: string,
  limit: string,
  bytes: number,
  { condition = '', currentStates = {}, leavesOutRepeats = false }: PageOptions = {},
): string {
  const rows = `
        select * from (
          select * from outbox where topic = (select $1::text) and position > ${position} ${condition}
          order by position limit ${maxRows}
        ) as rows limit ${limit}`;
  return `
  select position, uid, type, traceparent, ${messageJson}::text as message from (
    select *, sum(octet_length(payload::text)) over (order by position) as bytes, row_number() over (order by position) as nth from (
      select position, uid, type, recorded_at, traceparent, ${payloadSql(currentStates)}
      from (${leavesOutRepeats ? withoutRepeatedStates(rows, currentStates) : rows}) as rows limit ${limit}
    ) as resolved
  ) as measured
  where nth = 1 or bytes <= ${bytes}
  order by position`;
}

function messagesSql(options: PageOptions): string {
  const page = pageAfterSql('(select $2::bigint)', '(select $3::integer)', pageBytes, options);
  return `'[' || coalesce((select string_agg(message, ',' order by position) from (${page}) as page), '') || ']' as messages`;
}

interface PageOfTypes {
  readonly messages: string;
  readonly headUid: string | null;
}

interface ReadOutboxOptions {
  readonly producer: Producer;
  readonly database: Database;
  readonly currentStates?: CurrentStates;
}

interface PageStatements {
  readonly all: Statement;
  /** of the types `$4`, with the uid of the row at position `$5` */
  readonly ofTypes: Statement;
}

function pageStatements(options: PageOptions = {}): PageStatements {
  return {
    all: prepared(`select ${messagesSql(options)}`),
    ofTypes: prepared(`select ${messagesSql({ ...options, condition: 'and type = any ((select $4::text[])::text[])' })},
    (select uid from outbox where topic = $1 and position = $5) as "headUid"`),
  };
}

/** Replies with the messages after a position, the last position of the topic, and the uid of the row at the given position. */
export function readOutboxEndpoint(
  { producer, database, currentStates = {} }: ReadOutboxOptions,
  acknowledgements: Acknowledgements,
): Endpoint {
  // A statement that may build states takes several times as long to plan and to start, so other pages are read without.
  const stored = pageStatements();
  const few = pageStatements({ currentStates });
  const many = pageStatements({ currentStates, leavesOutRepeats: true });
  const statementsFor = (rows: number, topic: OutboxTopic, types = Object.keys(currentStates)): PageStatements => {
    if (topic !== 'state' || !types.some((type) => type in currentStates)) return stored;
    return rows < minRowsWithRepeats ? few : many;
  };
  return implement(outboxOperations[producer], async ({ body: { topic, consumer, after, uid, limit, types } }) => {
    // Assigning positions a second time changes none.
    const row = onlyRow(await database.read<{ head: number; at: string | null }>(headAndUid, [topic, after]));
    const { head } = row;
    let { at } = row;
    // The snapshot of that statement does not contain a row whose position the statement itself assigned.
    if (at === null && after > 0 && after <= head)
      ({ at } = onlyRow(await database.read<{ at: string | null }>(atPosition, [topic, after])));
    // After a restored backup another row may be at the position that the consumer has applied.
    const isApplied = uid !== undefined && after <= head && (uid === null || uid === at);
    if (isApplied) acknowledgements.add({ topic, consumer, position: after });
    if (head <= after || limit === 0) return { head, at, messages: [] };
    const { all, ofTypes } = statementsFor(Math.min(head - after, limit), topic, types);
    if (types !== undefined) {
      const page = await database.read<PageOfTypes>(ofTypes, [topic, after, limit, types, head]);
      const { messages, headUid } = onlyRow(page);
      return new JsonText(`${JSON.stringify({ head, at, headUid }).slice(0, -1)},"messages":${messages}}`);
    }
    const { messages } = onlyRow(await database.read<{ messages: string }>(all, [topic, after, limit]));
    return new JsonText(`{"head":${head},"at":${JSON.stringify(at)},"messages":${messages}}`);
  });
}
