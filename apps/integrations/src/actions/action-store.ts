import { type Action, type ActionSet, type ExecutedAction, invalid, notFound, refusal } from '@bunting/contracts';
import {
  advisoryLock,
  type Database,
  isOverSql,
  onlyRow,
  prepared,
  type ReadDatabase,
  timestampSql,
  type Tx,
} from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import { dropOldSignals } from '../signals/signal-store.ts';
import { actionSetEvent, type ActionSetToStore, type EndedRun, notStarted, runEvent } from './action-set.ts';
import type { Filters } from './payload-filter.ts';

const later = (ms: string) => `clock_timestamp() + make_interval(secs => ${ms}::float8 / 1000)`;

const columns = `id, name, description, enabled, project, actor_id as "actorId",
  json_build_object('source', 'signal-endpoint', 'sourceId', endpoint_id, 'payload', filters) as match, actions,
  ${timestampSql('created_at')} as "createdAt", created_by as "createdByUserId"`;

const setsOf = prepared(`select ${columns} from action_set where project = $1 order by id`);
const oneSet = prepared(`select ${columns} from action_set where project = $1 and id = $2`);
const runsOf = prepared(`
  select json_build_object('actionSetEvents', coalesce((
    select json_agg(json_build_object('id', r.id, 'actionSetId', set_id, 'signalId', signal_id,
      'createdAt', ${timestampSql('r.created_at')}, 'state', state,
      'signal', json_build_object('id', s.id, 'source', 'signal-endpoint', 'sourceId', s.endpoint_id,
        'createdAt', ${timestampSql('s.created_at')}, 'payload', s.payload),
      'actionSet', (r.action_set::jsonb || jsonb_build_object('actions', r.actions))) order by r.id desc)
    from (select * from action_run where set_id = a.id order by id desc limit $3 offset $4) as r
    join signal s on s.id = r.signal_id), '[]'))::text as json
  from action_set a where project = $1 and id = $2`);

function setNotFound(id: number) {
  return notFound(`Could not find actions with id ${id}`);
}

/** Reads action sets outside of transactions. */
export function actionReader({ read }: ReadDatabase) {
  return {
    sets: (project: string): Promise<ActionSet[]> => read<ActionSet>(setsOf, [project]),
    set: async (project: string, id: number): Promise<ActionSet> => {
      const [set] = await read<ActionSet>(oneSet, [project, id]);
      if (set === undefined) throw setNotFound(id);
      return set;
    },
    /** the reply with a page of the runs of a set, as JSON text */
    runs: async (project: string, id: number, limit: number, offset: number): Promise<string> => {
      const [row] = await read<{ json: string }>(runsOf, [project, id, limit, offset]);
      if (row === undefined) throw setNotFound(id);
      return row.json;
    },
  };
}
export type ActionReader = ReturnType<typeof actionReader>;

/** An endpoint whose signals this process processes until its lease ends or is taken back. */
export interface Claim {
  readonly endpointId: number;
  readonly endpoint: string;
  readonly lease: string;
}

/** The oldest signal of an endpoint that is not processed. */
export interface WaitingSignal {
  readonly id: number;
  readonly payload: unknown;
  readonly isMatched: boolean;
  /** milliseconds since 1970 */
  readonly createdAtMs: number;
}

/** A run that has not ended. */
export interface Run {
  readonly id: number;
  /** the same for each attempt */
  readonly uid: string;
  readonly set: ActionSet;
  readonly actions: readonly ExecutedAction[];
}

/** Whether the lease is held, which it is then until the commit. */
async function isHeld({ query }: Pick<Tx, 'query'>, { endpointId, lease }: Claim): Promise<boolean> {
  const text = 'select 1 from signal_endpoint where id = $1 and lease = $2 for no key update';
  return (await query(text, [endpointId, lease])).length > 0;
}

/** SQL: how far ahead the end of a lease, or of a rest, can be. */
const longestLease = "greatest($1::float8, 60000) * interval '1 ms'";

/** The queue of signals, and the runs that they cause. */
export function signalQueue({ read, query, transaction }: Database) {
  return {
    /** Takes endpoints with signals that wait and that no process has. */
    claim: (leaseMs: number, limit: number, except: readonly number[]): Promise<Claim[]> =>
      query<Claim>(
        prepared(`
          update signal_endpoint set lease = gen_random_uuid(), lease_until = ${later('$1')}
          where id in (
            select id from signal_endpoint e
            where (lease_until is null or ${isOverSql('lease_until', longestLease)}) and not id = any ($3::int[])
              and exists (select from signal s where s.endpoint_id = e.id and processed_at is null)
            order by lease_until nulls first limit $2 for no key update skip locked)
          returning id as "endpointId", name as endpoint, lease`),
        [leaseMs, limit, except],
      ),
    /** Ends a lease. @param idleMs milliseconds for which no process claims the endpoint */
    release: async ({ endpointId, lease }: Claim, idleMs = 0): Promise<void> => {
      const text = `update signal_endpoint set lease = null, lease_until = ${later('$3')} where id = $1 and lease = $2`;
      await query(prepared(text), [endpointId, lease, idleMs]);
    },
    next: async ({ endpointId }: Claim): Promise<WaitingSignal | undefined> => {
      const text = `
        select id, payload, is_matched as "isMatched", (extract(epoch from created_at) * 1000)::float8 as "createdAtMs" from signal
        where endpoint_id = $1 and processed_at is null order by id limit 1`;
      return (await read<WaitingSignal>(prepared(text), [endpointId]))[0];
    },
    /**
     * Begins a run of each enabled set of the endpoint that a signal matches, once.
     * @returns false, with nothing stored, if another process has the endpoint by now
     */
    match: (claim: Claim, signalId: number, isMatch: (filters: Filters) => boolean): Promise<boolean> =>
      transaction(async (tx) => {
        if (!(await isHeld(tx, claim))) return false;
        const sets = await tx.query<ActionSet>(
          `select ${columns} from action_set where endpoint_id = $1 and enabled order by id for share`,
          [claim.endpointId],
        );
        for (const set of sets.filter(({ match }) => isMatch(match.payload)))
          await tx.query('insert into action_run (signal_id, set_id, action_set, actions) values ($1, $2, $3, $4)', [
            signalId,
            set.id,
            JSON.stringify(set),
            JSON.stringify(notStarted(set.actions)),
          ]);
        await tx.query('update signal set is_matched = true where id = $1', [signalId]);
        return true;
      }),
    /** The runs of a signal that have not ended, in the order of the creation of their sets. */
    runs: (signalId: number): Promise<Run[]> =>
      read<Run>(
        prepared(`
          select id, uid, action_set as set, actions from action_run
          where signal_id = $1 and state = 'started' order by set_id`),
        [signalId],
      ),
    /** Whether a set is enabled now, in whose run an action is about to begin. */
    isEnabled: async (setId: number): Promise<boolean> => {
      const text = 'select 1 from action_set where id = $1 and enabled';
      return (await read(prepared(text), [setId])).length > 0;
    },
    /** Stores what has become of the actions of a run so far, and renews the lease. @returns false if another process has the endpoint by now */
    progress: (claim: Claim, run: Run, actions: readonly ExecutedAction[], leaseMs: number): Promise<boolean> =>
      transaction(async (tx) => {
        const renew = `update signal_endpoint set lease_until = ${later('$3')} where id = $1 and lease = $2 returning 1`;
        if ((await tx.query(renew, [claim.endpointId, claim.lease, leaseMs])).length === 0) return false;
        await tx.query('update action_run set actions = $2 where id = $1', [run.id, JSON.stringify(actions)]);
        return true;
      }),
    /** Marks a signal as processed. @returns false if another process has the endpoint by now */
    processed: async ({ endpointId, lease }: Claim, signalId: number): Promise<boolean> => {
      const text = `
        update signal set processed_at = clock_timestamp()
        from signal_endpoint e where signal.id = $3 and e.id = $1 and e.lease = $2 returning 1`;
      return (await query(prepared(text), [endpointId, lease, signalId])).length > 0;
    },
    /** By endpoint, how many signals wait, and for how many seconds the first one does. */
    waiting: (): Promise<{ readonly endpoint: string; readonly waiting: number; readonly seconds: number }[]> =>
      read(
        prepared(`
        select name as endpoint, count(s.id)::int as waiting,
          coalesce(extract(epoch from clock_timestamp() - min(s.created_at)), 0)::float8 as seconds
        from signal_endpoint e left join signal s on s.endpoint_id = e.id and processed_at is null group by e.id`),
      ),
    /** Deletes some old signals with their runs. @returns how many */
    dropOld: async (): Promise<number> => (await query(dropOldSignals)).length,
  };
}
export type SignalQueue = ReturnType<typeof signalQueue>;

/** Stores action sets in a transaction, with their events, and the ends of their runs. */
export function actionRepository({ query }: Pick<Tx, 'query'>, record: RecordEvents) {
  /** The actions with ids of their own. */
  const numbered = async (actions: ActionSetToStore['actions'], by: number, now: Date): Promise<Action[]> => {
    const ids = await query<{ id: number }>(`select nextval('action_id')::int as id from generate_series(1, $1::int)`, [
      actions.length,
    ]);
    return actions.map((action, nth) => ({
      id: ids[nth]?.id ?? 0,
      ...action,
      createdAt: now.toISOString(),
      createdByUserId: by,
    }));
  };
  const requireEndpoint = async (id: number): Promise<void> => {
    const [found] = await query('select 1 from signal_endpoint where id = $1 for key share', [id]);
    if (found === undefined)
      throw invalid('The `/body/match/sourceId` property is the id of no signal endpoint.', '/body/match/sourceId');
  };
  const requireFreeName = async ({ project, name }: ActionSetToStore, except: number): Promise<void> => {
    // One write of a project at a time, so that limit and names hold.
    await advisoryLock({ query }, `actions of ${project}`);
    const text = 'select 1 from action_set where project = $1 and name = $2 and id <> $3';
    const [other] = await query(text, [project, name, except]);
    if (other !== undefined)
      throw refusal('NameExistsError', `Actions with the name ${name} exist already in this project`);
  };
  return {
    /** Locks an action set of a project. */
    lock: async (project: string, id: number): Promise<ActionSet> => {
      const [set] = await query<ActionSet>(
        `select ${columns} from action_set where project = $1 and id = $2 for update`,
        [project, id],
      );
      if (set === undefined) throw setNotFound(id);
      return set;
    },
    /** @returns undefined if the project has as many already */
    add: async (set: ActionSetToStore, by: number, now: Date, max: number): Promise<ActionSet | undefined> => {
      await requireFreeName(set, 0);
      const text = 'select count(*)::int as count from action_set where project = $1';
      if (onlyRow(await query<{ count: number }>(text, [set.project])).count >= max) return undefined;
      await requireEndpoint(set.endpointId);
      const added = onlyRow(
        await query<ActionSet>(
          `insert into action_set (project, name, description, enabled, endpoint_id, filters, actor_id, actions, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${columns}`,
          [...valuesOf(set), JSON.stringify(await numbered(set.actions, by, now)), by],
        ),
      );
      record([actionSetEvent({ after: added })]);
      return added;
    },
    save: async (before: ActionSet, set: ActionSetToStore, by: number, now: Date): Promise<ActionSet> => {
      await requireFreeName(set, before.id);
      await requireEndpoint(set.endpointId);
      const after = onlyRow(
        await query<ActionSet>(
          `update action_set set project = $1, name = $2, description = $3, enabled = $4, endpoint_id = $5, filters = $6,
             actor_id = $7, actions = $8 where id = $9 returning ${columns}`,
          [...valuesOf(set), JSON.stringify(await numbered(set.actions, by, now)), before.id],
        ),
      );
      record([actionSetEvent({ before, after })]);
      return after;
    },
    switchTo: async (before: ActionSet, enabled: boolean): Promise<void> => {
      await query('update action_set set enabled = $2 where id = $1', [before.id, enabled]);
      record([actionSetEvent({ before, after: { ...before, enabled } })]);
    },
    remove: async (before: ActionSet): Promise<void> => {
      await query('delete from action_set where id = $1', [before.id]);
      record([actionSetEvent({ before })]);
    },
    /** Ends a run, with its event. @returns false, with nothing stored, if another process has the endpoint by now */
    endRun: async (claim: Claim, runId: number, ended: EndedRun): Promise<boolean> => {
      if (!(await isHeld({ query }, claim))) return false;
      const state = ended.actions.every((action) => action.state === 'success') ? 'success' : 'failed';
      const text = `update action_run set state = $2, actions = $3 where id = $1 and state = 'started' returning 1`;
      if ((await query(text, [runId, state, JSON.stringify(ended.actions)])).length > 0) record([runEvent(ended)]);
      return true;
    },
  };
}
export type ActionRepository = ReturnType<typeof actionRepository>;

function valuesOf({ project, name, description, enabled, endpointId, filters, actorId }: ActionSetToStore) {
  return [project, name, description, enabled, endpointId, JSON.stringify(filters), actorId];
}
