import {
  type EventContent,
  maxSignals,
  notFound,
  refusal,
  signalDays,
  type SignalEndpoint,
  type SignalEndpointToken,
} from '@bunting/contracts';
import {
  advisoryLock,
  onlyRow,
  prepared,
  type ReadDatabase,
  timestampSql,
  type Tx,
  violatedConstraint,
} from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';

type Endpoint = Omit<SignalEndpoint, 'tokens'>;
type Properties = Pick<Endpoint, 'name' | 'description' | 'enabled'>;

/** A token as it is compared with the one of a request. */
export interface KnownToken {
  readonly id: number;
  readonly hash: Buffer;
}

/** A signal that comes with a known token. */
export interface ReceivedSignal {
  readonly token: KnownToken;
  /** the signal as JSON text */
  readonly payload: string;
  readonly perMinute: number;
}

/**
 * SQL: when the budget of an endpoint is whole again, in a minute at the latest: a later time was stored before the clock of the database was set
 * back.
 */
const fullAt = `case when full_at between clock_timestamp() and clock_timestamp() + interval '1 minute' then full_at else clock_timestamp() end`;

const endpointColumns = `id, name, description, enabled, ${timestampSql('created_at')} as "createdAt", created_by as "createdByUserId"`;
const tokenColumns = `id, name, endpoint_id as "signalEndpointId", ${timestampSql('created_at')} as "createdAt", created_by as "createdByUserId"`;

const allEndpoints = prepared(`
  select ${endpointColumns}, coalesce((
    select json_agg(t order by t.id) from (select ${tokenColumns} from signal_token where endpoint_id = e.id) as t), '[]') as tokens
  from signal_endpoint e order by id`);
const tokensOf = prepared(`
  select coalesce((select json_agg(t order by t.id) from (
    select ${tokenColumns} from signal_token where endpoint_id = e.id) as t), '[]') as tokens
  from signal_endpoint e where id = $1`);
const knownTokens = prepared(
  'select t.id, t.hash from signal_token t join signal_endpoint e on e.id = t.endpoint_id where e.name = $1',
);
const signalsOf = prepared(`
  select json_build_object('signalEndpointSignals', coalesce((
    select json_agg(json_build_object('id', id, 'source', 'signal-endpoint', 'sourceId', endpoint_id,
      'createdAt', ${timestampSql('created_at')}, 'tokenName', token_name, 'payload', payload) order by id desc)
    from (select * from signal where endpoint_id = e.id order by id desc limit $2 offset $3) as page), '[]'))::text as json
  from signal_endpoint e where id = $1`);

function endpointNotFound(id: number) {
  return notFound(`Could not find signal endpoint with id ${id}`);
}

function tokenNotFound(id: number) {
  return notFound(`Could not find a token with id ${id} of this signal endpoint`);
}

function unauthorised() {
  return refusal('AuthenticationRequired', 'The signal endpoint does not exist, or has no such token.');
}

/** Reads signal endpoints outside of transactions. */
export function signalReader({ read }: ReadDatabase) {
  return {
    endpoints: (): Promise<SignalEndpoint[]> => read<SignalEndpoint>(allEndpoints),
    tokens: async (id: number): Promise<SignalEndpointToken[]> => {
      const [row] = await read<{ tokens: SignalEndpointToken[] }>(tokensOf, [id]);
      if (row === undefined) throw endpointNotFound(id);
      return row.tokens;
    },
    /** the tokens of an endpoint; none if it does not exist */
    knownTokens: (name: string): Promise<KnownToken[]> => read<KnownToken>(knownTokens, [name]),
    /** the reply with a page of the signals of an endpoint, as JSON text */
    signals: async (id: number, limit: number, offset: number): Promise<string> => {
      const [row] = await read<{ json: string }>(signalsOf, [id, limit, offset]);
      if (row === undefined) throw endpointNotFound(id);
      return row.json;
    },
  };
}
export type SignalReader = ReturnType<typeof signalReader>;

/** Stores signal endpoints in a transaction, with their events, and the signals that they receive. */
export function signalRepository({ query }: Pick<Tx, 'query'>, record: RecordEvents) {
  const lock = async (id: number): Promise<Endpoint> => {
    const [endpoint] = await query<Endpoint>(
      `select ${endpointColumns} from signal_endpoint where id = $1 for update`,
      [id],
    );
    if (endpoint === undefined) throw endpointNotFound(id);
    return endpoint;
  };
  const lockToken = async (endpointId: number, id: number): Promise<SignalEndpointToken> => {
    await lock(endpointId);
    const [token] = await query<SignalEndpointToken>(
      `select ${tokenColumns} from signal_token where endpoint_id = $1 and id = $2`,
      [endpointId, id],
    );
    if (token === undefined) throw tokenNotFound(id);
    return token;
  };
  return {
    count: async (): Promise<number> => {
      // One creation at a time, so that the limit holds.
      await advisoryLock({ query }, 'signal endpoints');
      return onlyRow(await query<{ count: number }>('select count(*)::int as count from signal_endpoint')).count;
    },
    lock,
    add: async ({ name, description, enabled }: Properties, by: number): Promise<SignalEndpoint> => {
      const [endpoint] = await query<Endpoint>(
        `insert into signal_endpoint (name, description, enabled, created_by) values ($1, $2, $3, $4)
         on conflict (name) do nothing returning ${endpointColumns}`,
        [name, description, enabled, by],
      );
      if (endpoint === undefined) throw nameTaken('signal endpoint', name);
      record([endpointEvent({ after: endpoint })]);
      return { ...endpoint, tokens: [] };
    },
    save: async (before: Endpoint, { name, description, enabled }: Properties): Promise<SignalEndpoint> => {
      const after = { ...before, name, description, enabled };
      await query('update signal_endpoint set name = $2, description = $3, enabled = $4 where id = $1', [
        before.id,
        name,
        description,
        enabled,
      ]).catch((error: unknown) => {
        throw violatedConstraint(error) === 'signal_endpoint_name_key' ? nameTaken('signal endpoint', name) : error;
      });
      record([endpointEvent({ before, after })]);
      const { tokens } = onlyRow(await query<{ tokens: SignalEndpointToken[] }>(tokensOf.text, [before.id]));
      return { ...after, tokens };
    },
    /** @throws Refusal `OperationDeniedError` if actions refer to it */
    remove: async (before: Endpoint): Promise<void> => {
      const users = await query<{ name: string; project: string }>(
        'select name, project from action_set where endpoint_id = $1 order by project, name limit 1',
        [before.id],
      );
      if (users[0] !== undefined)
        throw refusal(
          'OperationDeniedError',
          `The actions "${users[0].name}" of project "${users[0].project}" listen to this endpoint. Delete or redirect them first.`,
        );
      await query('delete from signal_endpoint where id = $1', [before.id]);
      record([endpointEvent({ before })]);
    },

    countTokens: async (endpointId: number): Promise<number> =>
      onlyRow(
        await query<{ count: number }>('select count(*)::int as count from signal_token where endpoint_id = $1', [
          endpointId,
        ]),
      ).count,
    addToken: async (endpointId: number, name: string, hash: Buffer, by: number): Promise<SignalEndpointToken> => {
      const [token] = await query<SignalEndpointToken>(
        `insert into signal_token (endpoint_id, name, hash, created_by) values ($1, $2, $3, $4)
         on conflict (endpoint_id, name) do nothing returning ${tokenColumns}`,
        [endpointId, name, hash, by],
      );
      if (token === undefined) throw nameTaken('token', name);
      record([tokenEvent({ after: token })]);
      return token;
    },
    renameToken: async (endpointId: number, id: number, name: string): Promise<SignalEndpointToken> => {
      const before = await lockToken(endpointId, id);
      const [other] = await query('select 1 from signal_token where endpoint_id = $1 and name = $2 and id <> $3', [
        endpointId,
        name,
        id,
      ]);
      if (other !== undefined) throw nameTaken('token', name);
      await query('update signal_token set name = $2 where id = $1', [id, name]);
      const after = { ...before, name };
      record([tokenEvent({ before, after })]);
      return after;
    },
    removeToken: async (endpointId: number, id: number): Promise<void> => {
      const before = await lockToken(endpointId, id);
      await query('delete from signal_token where id = $1', [id]);
      record([tokenEvent({ before })]);
    },

    /**
     * Stores a signal. The endpoint is locked until the commit: its signals get their ids in the order of the commits, the budget holds on all
     * replicas, and a token that is deleted meanwhile is refused.
     */
    receive: async ({ token, payload, perMinute }: ReceivedSignal): Promise<void> => {
      const [endpoint] = await query<{ id: number; enabled: boolean; waitSeconds: number; isFull: boolean }>(
        `select e.id, enabled,
           ceil(extract(epoch from ${fullAt} - clock_timestamp()) + 60.0 / $2 - 60)::int as "waitSeconds"
         from signal_endpoint e where id = (select endpoint_id from signal_token where id = $1) for update`,
        [token.id, perMinute],
      );
      // Read under the lock, which whoever deletes the token takes first.
      const [sender] = await query<{ name: string }>('select name from signal_token where id = $1 and hash = $2', [
        token.id,
        token.hash,
      ]);
      if (endpoint === undefined || sender === undefined) throw unauthorised();
      if (!endpoint.enabled) throw refusal('OperationDeniedError', 'The signal endpoint is disabled.');
      if (endpoint.waitSeconds > 0)
        throw refusal('RateLimitError', `The signal endpoint accepts ${perMinute} signals a minute.`, {
          retryAfterSeconds: endpoint.waitSeconds,
        });
      const { waiting } = onlyRow(
        await query<{ waiting: number }>(
          `select count(*)::int as waiting from (
             select from signal where endpoint_id = $1 and processed_at is null limit ${maxSignals}) as waiting`,
          [endpoint.id],
        ),
      );
      if (waiting >= maxSignals)
        throw refusal('RateLimitError', `${maxSignals} signals of this endpoint wait to be processed.`, {
          retryAfterSeconds: 60,
        });
      await query(
        `update signal_endpoint set full_at = ${fullAt} + make_interval(secs => 60.0 / $2)
         where id = $1`,
        [endpoint.id, perMinute],
      );
      await query('insert into signal (endpoint_id, token_name, payload) values ($1, $2, $3)', [
        endpoint.id,
        sender.name,
        payload,
      ]);
    },
  };
}
export type SignalRepository = ReturnType<typeof signalRepository>;

/** SQL: deletes some processed signals that are older than `signalDays`, or beyond the newest `maxSignals` of their endpoint, with their runs. */
export const dropOldSignals = prepared(`
  delete from signal using signal_endpoint e cross join lateral (
    select s.id from signal s
    where s.endpoint_id = e.id and processed_at is not null and (
      s.id <= (select id from signal where endpoint_id = e.id order by id desc offset ${maxSignals} limit 1)
      or s.created_at < clock_timestamp() - interval '${signalDays} days')
    order by s.id limit 1000) as old
  where signal.id = old.id returning 1`);

function nameTaken(kind: string, name: string) {
  return refusal('NameExistsError', `A ${kind} with the name ${name} exists already`);
}

interface Change<T> {
  readonly before?: T;
  readonly after?: T;
}

function kindOf({ before, after }: Change<unknown>): 'created' | 'updated' | 'deleted' {
  return before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';
}

function endpointEvent(change: Change<Endpoint>): EventContent {
  return { type: `signal-endpoint-${kindOf(change)}`, data: change.after ?? null, preData: change.before ?? null };
}

/** The event of a token, which has neither its secret nor its hash. */
function tokenEvent(change: Change<SignalEndpointToken>): EventContent {
  return {
    type: `signal-endpoint-token-${kindOf(change)}`,
    data: change.after ?? null,
    preData: change.before ?? null,
  };
}
