import type { EventContent } from '@bunting/contracts';
import { outboxEvent, type OutboxMessage, projectNotFound, ProjectState, systemCaller } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type Database, prepared, type Tx } from '@bunting/database';
import { emitInProjection } from '@bunting/outbox';
import { Type } from 'typebox';
import { gatewaySql, TokenEntity } from '../../unit-of-work/entities.ts';
import { removeEnvironmentFromRoles } from '../roles/role-store.ts';
import { predefinedRole } from '../roles/role.ts';
import { apiTokenInEventsOf, type TokenRow } from '../tokens/token-store.ts';
import { tokenEvent } from '../tokens/token.ts';

/** Which of the ids, or of all projects, are in the gateway's projection of projects. */
export type FindExistingProjects = (ids?: readonly string[]) => Promise<readonly string[]>;

/**
 * SQL: a project that the features service emitted and that is not deleted. A private project that was deleted keeps its row, so that its
 * events stay hidden from all but administrators; a version below zero hides a project of which no state was emitted yet.
 */
const isExistingSql = 'deleted_at is null and version >= 0';

const existingProjects = prepared(
  `select id from project where ($1::text[] is null or id = any ($1::text[])) and ${isExistingSql}`,
);

export function existingProjectsReader(database: Database): FindExistingProjects {
  return async (ids) => (await database.read<{ id: string }>(existingProjects, [ids ?? null])).map(({ id }) => id);
}

/**
 * Locks projects of the projection against deletion until the transaction ends, so that a later deletion sees the rows that the transaction
 * writes.
 * @throws Refusal `NotFoundError` for a project that was deleted meanwhile
 */
export async function lockExistingProjects({ query }: Pick<Tx, 'query'>, ids: readonly string[]): Promise<void> {
  const text = `select id from project where id = any ($1::text[]) and ${isExistingSql} order by id for key share`;
  const existing = (await query<{ id: string }>(text, [ids])).map(({ id }) => id);
  const missing = ids.find((id) => !existing.includes(id));
  if (missing !== undefined) throw projectNotFound(missing);
}

const hideSql = `
  insert into project (id, mode, version, pending_private_version, pending_private_since) values ($1, 'private', -1, $2, now())
  on conflict (id) do update set pending_private_version = excluded.pending_private_version, pending_private_since = excluded.pending_private_since
  where project.version < excluded.pending_private_version`;

/**
 * SQL: whether a project was hidden longer ago than a transaction of the features service can take, so that the change for which it was
 * hidden was not committed.
 */
const isUncommittedSql =
  "pending_private_since not between now() - interval '5 minutes' and now() + interval '5 minutes'";

/** Projects that the gateway hides before the features service commits that they are private, until the projection applies that commit. */
export function pendingPrivateProjectStore(database: Database) {
  const write = (job: (tx: Tx) => Promise<unknown>): Promise<void> =>
    database.transaction(async (tx) => void (await job(tx)));
  return {
    hide: (id: string, version: number) => write(({ query }) => query(hideSql, [id, version])),
    /** Whether any project is hidden for a change that the features service did not commit. */
    hasUncommitted: async (): Promise<boolean> =>
      (await database.read(prepared(`select from project where ${isUncommittedSql} limit 1`))).length > 0,
    /** Unhides the projects whose change the features service did not commit. */
    unhideUncommitted: () =>
      write(async ({ query }) => {
        await query(`delete from project where version < 0 and ${isUncommittedSql}`);
        await query(
          `update project set pending_private_version = null, pending_private_since = null where ${isUncommittedSql}`,
        );
      }),
  };
}
export type PendingPrivateProjects = ReturnType<typeof pendingPrivateProjectStore>;

interface EndedTokens {
  /** ends the tokens that were created before this time; null for all */
  readonly createdBefore: Date | null;
  /** whether tokens of the settings, which may be for an environment that is yet to be created, stay */
  readonly keepsTokensOfSettings: boolean;
}

const revokeTokens = `
  update api_token token set revoked_at = now()
  where environment = $1 and kind <> 'user' and revoked_at is null
    and ($2::timestamptz is null or created_at < $2) and (created_by is not null or not $3)
  returning ${gatewaySql.selectOf(TokenEntity, 'token')}`;

/**
 * Ends what names an environment that does not exist: its tokens, and the permissions of roles in it, so that they hold in no later
 * environment of that name. @returns the events of it
 */
export async function endEnvironmentAccess(
  tx: Pick<Tx, 'query'>,
  environment: string,
  { createdBefore, keepsTokensOfSettings }: EndedTokens,
): Promise<readonly EventContent[]> {
  const values = [environment, createdBefore?.toISOString() ?? null, keepsTokensOfSettings];
  const revoked = await tx.query<TokenRow>(revokeTokens, values);
  return [
    ...revoked.map((row) => tokenEvent('api-token-deleted', { preData: apiTokenInEventsOf(row) })),
    ...(await removeEnvironmentFromRoles(tx, environment)),
  ];
}

const ProjectMessage = Type.Object({
  id: Type.String({ minLength: 1 }),
  version: Type.Integer(),
  state: Type.Union([ProjectState, Type.Null()]),
  lastMode: Type.Optional(ProjectState.properties.mode),
});

// The creator becomes owner when the project is first applied, and only then: an owner role that is removed later must not come back.
// A token that lost a deleted project with the same id has no claim to the new one, and must not receive names of its features.
const upsertProjectSql = `
  with before as (select from project where id = $1 and deleted_at is null and version >= 0),
  stored as (
    insert into project (id, mode, version) values ($1, $2, $3)
    on conflict (id) do update set mode = excluded.mode, version = excluded.version, deleted_at = null,
      pending_private_version = case when project.pending_private_version > excluded.version then project.pending_private_version end,
      pending_private_since = case when project.pending_private_version > excluded.version then project.pending_private_since end
    where project.version < excluded.version
    returning id
  ),
  unlinked as (
    update api_token set deleted_projects = array_remove(deleted_projects, $1)
    where $1 = any (deleted_projects) and exists (select from stored) and not exists (select from before)
  )
  insert into project_user (project, user_id, role_id)
  select $1, u.id, ${predefinedRole.owner} from stored join api_user u on u.id = $4 and u.deleted_at is null
  where not exists (select from before) on conflict do nothing`;

// The row of a private project stays as a tombstone. Tokens for this project alone are revoked; from others the project is removed, and
// added to their deleted projects.
const deleteProjectSql = `
  with deleted as (delete from project where id = $1 and $3 <> 'private'),
  tombstone as (
    insert into project (id, mode, version, deleted_at) select $1, $3, $4, $2::timestamptz where $3 = 'private'
    on conflict (id) do update set mode = excluded.mode, version = excluded.version, deleted_at = excluded.deleted_at,
      pending_private_version = null, pending_private_since = null
  ),
  users as (delete from project_user where project = $1),
  groups as (delete from project_group where project = $1),
  invitations as (delete from invite_project where project = $1),
  reduced as (
    update api_token set projects = array_remove(projects, $1),
      deleted_projects = array_append(array_remove(deleted_projects, $1), $1)
    where $1 = any (projects) and projects <> array[$1] and revoked_at is null
  )
  update api_token token set revoked_at = now()
  where projects = array[$1] and kind <> 'user' and revoked_at is null
  returning ${gatewaySql.selectOf(TokenEntity, 'token')}`;

const EnvironmentMessage = Type.Object({ id: Type.String({ minLength: 1 }), state: Type.Null() });

/** Maximum milliseconds between the clocks of the two databases, which a start checks to be less. */
const clockToleranceMs = 60_000;

/**
 * Ends the tokens and permissions of a deleted environment. A message that was set aside may arrive when another environment of that name
 * exists: what is newer than the deletion stays.
 */
async function applyEnvironmentDeletion(tx: Tx, { payload, recordedAt }: OutboxMessage): Promise<void> {
  const { id } = parse(EnvironmentMessage, payload);
  const now = new Date(recordedAt);
  const createdBefore = new Date(now.getTime() + clockToleranceMs);
  const events = await endEnvironmentAccess(tx, id, { createdBefore, keepsTokensOfSettings: false });
  await emitInProjection(
    tx,
    events.map((event) => outboxEvent(event, { by: systemCaller, now })),
  );
}

/** The types of the states that `applyProjectStates` reads. */
export const consumedStates = ['environment', 'project'];

/** Applies the states of projects and environments from the outbox of the features service; skips other states. Idempotent. */
export async function applyProjectStates(tx: Tx, messages: readonly OutboxMessage[]): Promise<void> {
  const { query } = tx;
  for (const message of messages) {
    const { type, payload, recordedAt } = message;
    if (type === 'environment') await applyEnvironmentDeletion(tx, message);
    if (type !== 'project') continue;
    const { id, version, state, lastMode } = parse(ProjectMessage, payload);
    if (state !== null) {
      await query(upsertProjectSql, [id, state.mode, version, state.createdBy]);
      continue;
    }
    // Waits for concurrent transactions that write rows of the project, so that the next statement sees and deletes their rows.
    const [current] = await query<{ newer: boolean; mode: ProjectState['mode'] }>(
      'select version > $2 as newer, mode from project where id = $1 for update',
      [id, version],
    );
    if (current?.newer) continue;
    // A project of unknown mode is treated as private, so that nothing is revealed.
    const mode = lastMode ?? current?.mode ?? 'private';
    const now = new Date(recordedAt);
    const revoked = await query<TokenRow>(deleteProjectSql, [id, now.toISOString(), mode, version]);
    const events = revoked.map((row) => tokenEvent('api-token-deleted', { preData: apiTokenInEventsOf(row) }));
    await emitInProjection(
      tx,
      events.map((event) => outboxEvent(event, { by: systemCaller, now })),
    );
  }
}

/** Resets the versions after the features service was restored from a backup: the next state applies whatever its version. */
export async function acceptAnyProjectVersion({ query }: Tx): Promise<void> {
  await query(`
    update project set version = least(version, 0), pending_private_version = case when pending_private_version is not null then 0 end`);
}
