import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import { type Group, refusal } from '@bunting/contracts';
import { timestampSql, type Tx, violatedConstraint } from '@bunting/database';
import { gatewaySql, GroupEntity, GroupMemberEntity } from '../../unit-of-work/entities.ts';
import type { LastAdministratorGuard } from '../../unit-of-work/last-administrator-guard.ts';
import type { EventsOf } from '../events.ts';
import type { SynchronisedGroup, SynchronisedMemberships } from '../oidc/oidc-sign-in.ts';
import { groupNotFound } from '../refusals.ts';
import type { ProvisionedGroup } from '../scim/scim-groups.ts';
import type { UnusedGroupAttributes } from '../scim/scim-users.ts';
import { userColumnsSql, userOf, type UserRow } from '../users/user-store.ts';

export interface GroupContent {
  readonly name: string;
  readonly description: string | null;
  readonly mappingsSSO: readonly string[];
  readonly rootRole: number | null;
  /** stays as it is when left out */
  readonly provisioned?: UnusedGroupAttributes | null;
}

/** Creates a group without members, or updates the one with the id and keeps its members. @throws Refusal `NameExistsError` */
export async function storeGroupWithoutMembers(
  { em }: Pick<Tx, 'em'>,
  guard: Pick<LastAdministratorGuard, 'markLossOfRights'>,
  { name, description, mappingsSSO, rootRole, provisioned }: GroupContent,
  { createdBy, id }: { readonly createdBy: string; readonly id: number | undefined },
): Promise<ProvisionedGroup> {
  const content = {
    name,
    description,
    mappingsSSO: [...mappingsSSO],
    rootRole,
    ...(provisioned === undefined ? {} : { provisioned }),
  };
  const existing = id === undefined ? undefined : await em.findOneOrFail(GroupEntity, { id });
  if (existing !== undefined && existing.rootRole !== null && existing.rootRole !== rootRole) guard.markLossOfRights();
  try {
    const group =
      existing === undefined ? em.create(GroupEntity, { ...content, createdBy }) : em.assign(existing, content);
    await em.flush();
    return group;
  } catch (error) {
    if (violatedConstraint(error) !== 'user_group_by_name') throw error;
    throw refusal('NameExistsError', `Group name already exists: ${name}`);
  }
}

type GroupRow = Omit<Group, 'users' | 'userCount' | 'projects'> & { readonly projects: string[] };

interface MemberRow extends UserRow {
  readonly groupId: number;
  readonly joinedAt: string;
  readonly addedBy: string;
}

/** A group as requests to the API store it. */
export interface GroupWithMembers extends GroupContent {
  readonly members: readonly number[];
}

const selectGroups = `
  select ${gatewaySql.selectOf(GroupEntity, 'g')},
    array(select distinct project from project_group where group_id = g.id order by project) as projects
  from user_group g where $1::integer[] is null or id = any ($1::integer[]) order by lower(name), id`;

const selectMembers = `
  select m.group_id as "groupId", ${timestampSql('m.joined_at')} as "joinedAt", m.created_by as "addedBy", ${userColumnsSql}
  from group_member m join api_user u on u.id = m.user_id
  where m.group_id = any ($1::integer[]) order by u.id`;

const selectManagedBySignIns = `
  with synced as (
    select group_id from group_member where user_id = $1 and is_synced order by group_id for update
  )
  select id, name, mappings_sso && $2::text[] as "isNamed",
    exists (select from group_member where group_id = g.id and user_id = $1) as "isMember"
  from user_group g where mappings_sso && $2::text[] or id in (select group_id from synced) order by id`;

const joinBySignInSql = `
  insert into group_member (group_id, user_id, created_by, is_synced)
  select id, $1, $3, true from user_group where id = any ($2::integer[]) on conflict do nothing`;

type ChangedMemberships = Pick<SynchronisedMemberships, 'added' | 'removed'>;

/** Reads of groups without a lock: for responses, not for decisions. */
export function groupReads({ query }: Pick<Tx, 'query'>) {
  const list = async (ids?: readonly number[]): Promise<Group[]> => {
    const rows = await query<GroupRow>(selectGroups, [ids ?? null]);
    const members = await query<MemberRow>(selectMembers, [rows.map(({ id }) => id)]);
    const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
    return rows.map((group) => {
      const users = (byGroup.get(group.id) ?? []).map((row) => ({
        user: userOf(row),
        joinedAt: row.joinedAt,
        createdBy: row.addedBy,
      }));
      return { ...group, users, userCount: users.length };
    });
  };
  return {
    /** All groups, or those with the ids, ordered by name. */
    list,
    /** @throws Refusal 404 when there is none */
    get: async (id: number): Promise<Group> => {
      const [group] = await list([id]);
      if (group === undefined) throw groupNotFound();
      return group;
    },
  };
}

/** Groups of users, and their members. */
export function groupRepository(
  tx: Tx,
  guard: Pick<LastAdministratorGuard, 'wouldLeaveAdministrator' | 'markLossOfRights'>,
  record: RecordEvents,
) {
  const { query } = tx;
  const { list, get } = groupReads(tx);
  /**
   * Locks a group, if it exists, but not against new members: an edit of a group locks it and then its members, and a sign-in locks its user
   * and then adds members.
   */
  const lock = async (id: number): Promise<boolean> =>
    (await query('select from user_group where id = $1 for no key update', [id])).length > 0;
  /** A group, locked until the transaction ends. @throws Refusal 404 when there is none */
  const getForUpdate = async (id: number): Promise<Group> => {
    if (!(await lock(id))) throw groupNotFound();
    return get(id);
  };
  const setMembers = async (group: number, users: readonly number[], createdBy: string): Promise<void> => {
    const removed = await tx.em.nativeDelete(GroupMemberEntity, { group, user: { $nin: [...users] } });
    if (removed > 0) guard.markLossOfRights();
    const rows = users.map((user) => ({ group, user, createdBy }));
    if (rows.length > 0) await tx.em.upsertMany(GroupMemberEntity, rows, { onConflictAction: 'ignore' });
  };
  const storeWithMembers = async (
    { members, ...content }: GroupWithMembers,
    { createdBy, id: knownId }: { readonly createdBy: string; readonly id: number | undefined },
    eventsOf: EventsOf<Group>,
  ): Promise<Group> => {
    const { id } = await storeGroupWithoutMembers(tx, guard, content, { createdBy, id: knownId });
    await setMembers(id, members, createdBy);
    const stored = await getForUpdate(id);
    record(eventsOf(stored));
    return stored;
  };
  const storeMemberships = async (
    userId: number,
    { added, removed }: ChangedMemberships,
    createdBy: string,
  ): Promise<void> => {
    const ids = (changed: ChangedMemberships['added']) => changed.map(({ id }) => id);
    if (added.length > 0) await query(joinBySignInSql, [userId, ids(added), createdBy]);
    if (removed.length > 0)
      await query('delete from group_member where user_id = $1 and group_id = any ($2::integer[])', [
        userId,
        ids(removed),
      ]);
  };

  return {
    list,
    getForUpdate,
    /** A group without its members, locked until the transaction ends. */
    findWithoutMembersForUpdate: async (id: number): Promise<ProvisionedGroup | undefined> =>
      (await lock(id)) ? tx.em.findOneOrFail(GroupEntity, { id }, { refresh: true }) : undefined,
    /** Creates a group with its members. @throws Refusal `NameExistsError` */
    add: (group: GroupWithMembers, createdBy: string, eventsOf: EventsOf<Group>): Promise<Group> =>
      storeWithMembers(group, { createdBy, id: undefined }, eventsOf),
    /** Updates a group and replaces its members. @param addedBy who adds the new members @throws Refusal `NameExistsError` */
    save: (id: number, group: GroupWithMembers, addedBy: string, eventsOf: EventsOf<Group>): Promise<Group> =>
      storeWithMembers(group, { createdBy: addedBy, id }, eventsOf),
    /**
     * The groups that map one of the names, and those of which earlier sign-ins made the user a member; these memberships are locked until the
     * transaction ends. The user must be locked.
     */
    listManagedBySignIns: (userId: number, names: readonly string[]): Promise<SynchronisedGroup[]> =>
      query<SynchronisedGroup>(selectManagedBySignIns, [userId, names]),
    /** Whether an administrator would be left after memberships of a user change by a sign-in. */
    wouldLeaveAdministrator: (userId: number, change: ChangedMemberships, createdBy: string): Promise<boolean> =>
      guard.wouldLeaveAdministrator(() => storeMemberships(userId, change, createdBy)),
    /** Stores the memberships that a sign-in changes. If it removes any, `wouldLeaveAdministrator` must have been true for the change. */
    saveMemberships: async (
      userId: number,
      change: ChangedMemberships,
      createdBy: string,
      events: readonly EventContent[],
    ): Promise<void> => {
      await storeMemberships(userId, change, createdBy);
      record(events);
    },
    /** Adds a member to a group that is locked. */
    addMember: async (
      group: number,
      user: number,
      createdBy: string,
      events: readonly EventContent[],
    ): Promise<void> => {
      await tx.em.upsert(GroupMemberEntity, { group, user, createdBy }, { onConflictAction: 'ignore' });
      record(events);
    },
    /** Deletes a group with its memberships and roles. */
    remove: async (id: number, events: readonly EventContent[]): Promise<void> => {
      guard.markLossOfRights();
      await tx.em.nativeDelete(GroupEntity, { id });
      record(events);
    },
  };
}
