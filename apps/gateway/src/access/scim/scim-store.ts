import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import { onlyRow, timestampSql, type Tx } from '@bunting/database';
import { type Filter, parse } from 'scim2-parse-filter';
import type { LastAdministratorGuard } from '../../unit-of-work/last-administrator-guard.ts';
import type { EventsOf } from '../events.ts';
import { type GroupContent, storeGroupWithoutMembers } from '../groups/group-store.ts';
import { userColumnsSql, type UserRow } from '../users/user-store.ts';
import type { ProvisionedGroup } from './scim-groups.ts';
import type { UnusedGroupAttributes, UnusedUserAttributes } from './scim-users.ts';

/** A text that is no valid filter of SCIM. The message is for the client. */
export class InvalidFilter extends Error {}

/**
 * Parses a filter of SCIM (RFC 7644, 3.4.2.2), or a path with one. Control characters, which no filter has, are refused: the tokenizer of
 * scim2-parse-filter backtracks exponentially over line breaks in text without a closing quote.
 * @throws InvalidFilter for text that is neither
 */
export function parseScimFilter(text: string): Filter {
  const invalid = new InvalidFilter('The filter cannot be understood.');
  if (/\p{Cc}/u.test(text)) throw invalid;
  try {
    return parse(text);
  } catch {
    throw invalid;
  }
}

/** How an attribute of a resource is compared in SQL. */
interface FilterAttribute {
  /** SQL of the value */
  readonly sql: string;
  readonly type: 'text' | 'exact text' | 'boolean';
  /** SQL of a comparison for equality that can use an index, where the ordinary one cannot */
  readonly equals?: (parameter: string) => string;
}

/** The attributes that a filter may name, by their names in lower case. */
export type FilterAttributes = Readonly<Record<string, FilterAttribute>>;

export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const maxFilterLength = 1_000;
const schemaPrefix = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;

function booleanOf(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw new InvalidFilter('A filter compares a boolean with true or false.');
  return text === 'true';
}

/** The comparisons of texts in SQL, by their operators. */
const comparisons: Readonly<Record<string, (left: string, right: string) => string>> = {
  eq: (left, right) => `${left} = ${right}`,
  ne: (left, right) => `${left} is distinct from ${right}`,
  co: (left, right) => `position(${right} in ${left}) > 0`,
  sw: (left, right) => `starts_with(${left}, ${right})`,
  ew: (left, right) => `right(${left}, length(${right})) = ${right}`,
  gt: (left, right) => `${left} > ${right}`,
  ge: (left, right) => `${left} >= ${right}`,
  lt: (left, right) => `${left} < ${right}`,
  le: (left, right) => `${left} <= ${right}`,
};

/**
 * A filter (RFC 7644, 3.4.2.2) as a condition in SQL. Text is compared without regard to case, except for ids.
 * @throws InvalidFilter
 */
function scimFilterSql(text: string, attributes: FilterAttributes): SqlCondition {
  if (text.length > maxFilterLength) throw new InvalidFilter(`A filter has at most ${maxFilterLength} characters.`);
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;

  const compare = ({ sql, type, equals }: FilterAttribute, op: string, operand: unknown): string => {
    if (type === 'boolean') {
      if (op === 'pr') return `${sql} is not null`;
      if (op !== 'eq' && op !== 'ne') throw new InvalidFilter(`A boolean cannot be compared with ${op}.`);
      return `${sql} ${op === 'eq' ? '=' : '<>'} ${parameter(booleanOf(operand))}::boolean`;
    }
    if (op === 'pr') return `coalesce(${sql}, '') <> ''`;
    if (operand === null) return `${sql} is ${op === 'eq' ? '' : 'not '}null`;
    const value = `${parameter(String(operand))}::text`;
    if (op === 'eq' && equals !== undefined) return equals(value);
    const [left, right] = type === 'text' ? [`lower(${sql})`, `lower(${value})`] : [sql, value];
    const condition = Object.hasOwn(comparisons, op) ? comparisons[op] : undefined;
    if (condition === undefined) throw new InvalidFilter(`A filter cannot compare with ${op}.`);
    return condition(left, right);
  };

  const findAttribute = (path: string, pathPrefix: string): FilterAttribute => {
    const name = `${pathPrefix}${path.replace(schemaPrefix, '')}`.toLowerCase();
    const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (attribute === undefined) throw new InvalidFilter(`A filter cannot name the attribute ${path.slice(0, 100)}.`);
    return attribute;
  };

  const conditionOf = (filter: Filter, pathPrefix: string): string => {
    // The parser accepts the names of members of Object.prototype, such as `constructor`, as operators between conditions.
    if (!('attrPath' in filter || ['and', 'or', 'not'].includes(filter.op)))
      throw new InvalidFilter('The filter cannot be understood.');
    switch (filter.op) {
      case 'and':
      case 'or':
        return `(${filter.filters.map((operandFilter) => conditionOf(operandFilter, pathPrefix)).join(` ${filter.op} `)})`;
      case 'not':
        return `(not coalesce(${conditionOf(filter.filter, pathPrefix)}, false))`;
      case '[]':
        return conditionOf(filter.valFilter, `${pathPrefix}${filter.attrPath.replace(schemaPrefix, '')}.`);
      case 'pr':
        return `(${compare(findAttribute(filter.attrPath, pathPrefix), 'pr', undefined)})`;
      default:
        return `(${compare(findAttribute(filter.attrPath, pathPrefix), filter.op, filter.compValue)})`;
    }
  };

  return { sql: conditionOf(parseScimFilter(text), ''), values };
}

interface NamedReference {
  readonly id: number;
  readonly name: string;
}

export interface ScimUserRow extends UserRow {
  readonly provisioned: UnusedUserAttributes | null;
  readonly groups: readonly NamedReference[];
}

export interface ScimGroupRow {
  readonly id: number;
  readonly name: string;
  readonly createdAt: string;
  readonly provisioned: UnusedGroupAttributes | null;
  /** null where the members were not requested */
  readonly members: readonly NamedReference[] | null;
}

/** A page of resources, and the number of all that match the filter. */
export interface ScimPage<T> {
  readonly total: number;
  readonly rows: readonly T[];
}

export interface ScimQuery {
  /** the text of a SCIM filter; null for all resources */
  readonly filter: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** Which parts of groups are read. */
export interface GroupView {
  readonly includesMembers: boolean;
}

/** Maximum members in one page of groups. A page with a single group may have more. */
const maxMembersOfPage = 10_000;

const nameSql = 'coalesce(u.username, u.email)';

/** The attributes that a filter of users may name, in SQL of the table alias `u`. */
const userFilters: FilterAttributes = {
  id: { sql: 'u.id::text', type: 'exact text' },
  externalid: { sql: "u.provisioned->>'externalId'", type: 'exact text' },
  username: {
    sql: nameSql,
    type: 'text',
    equals: (value) =>
      `(lower(u.username) = lower(${value}) or u.username is null and lower(u.email) = lower(${value}))`,
  },
  displayname: { sql: 'u.name', type: 'text' },
  'name.formatted': { sql: 'u.name', type: 'text' },
  'name.givenname': { sql: "u.provisioned->>'givenName'", type: 'text' },
  'name.familyname': { sql: "u.provisioned->>'familyName'", type: 'text' },
  active: { sql: 'u.is_active', type: 'boolean' },
  emails: { sql: 'u.email', type: 'text' },
  'emails.value': { sql: 'u.email', type: 'text' },
  'emails.type': {
    sql: "case when u.email is not null then coalesce(u.provisioned->'email'->>'type', 'work') end",
    type: 'text',
  },
  'emails.primary': {
    sql: "(u.email is not null and coalesce((u.provisioned->'email'->>'primary')::boolean, true))",
    type: 'boolean',
  },
};

function isMemberSql(value: string): string {
  return `exists (select from group_member m where m.group_id = g.id and m.user_id::text = ${value})`;
}

/** The attributes that a filter of groups may name, in SQL of the table alias `g`. */
const groupFilters: FilterAttributes = {
  id: { sql: 'g.id::text', type: 'exact text' },
  externalid: { sql: "g.provisioned->>'externalId'", type: 'exact text' },
  displayname: { sql: 'g.name', type: 'text', equals: (value) => `lower(g.name) = lower(${value})` },
  members: { sql: 'null::text', type: 'exact text', equals: isMemberSql },
  'members.value': { sql: 'null::text', type: 'exact text', equals: isMemberSql },
};

const userSelect = `
  select ${userColumnsSql}, coalesce((
    select json_agg(json_build_object('id', g.id, 'name', g.name) order by g.id)
    from group_member m join user_group g on g.id = m.group_id where m.user_id = u.id), '[]') as groups
  from api_user u where u.deleted_at is null and not u.is_service`;

const membersSql = `coalesce((
    select json_agg(json_build_object('id', u.id, 'name', ${nameSql}) order by u.id)
    from group_member m join api_user u on u.id = m.user_id where m.group_id = g.id), '[]')`;

function groupSelect({ includesMembers }: GroupView, from: string): string {
  return `
  select g.id, g.name, ${timestampSql('g.created_at')} as "createdAt", g.provisioned,
    ${includesMembers ? membersSql : 'null::json'} as members
  from ${from}`;
}

/** Reads of users and groups as identity providers see them. */
export function scimReads({ query }: Pick<Tx, 'query'>) {
  const count = async (from: string, { sql, values }: SqlCondition): Promise<number> =>
    onlyRow(
      await query<{ total: number }>(`select count(*)::int as total from ${from} and ${sql}`, [...values]),
      'count',
    ).total;

  const conditionOf = (filter: string | null, attributes: FilterAttributes): SqlCondition =>
    filter === null ? { sql: 'true', values: [] } : scimFilterSql(filter, attributes);

  return {
    findUser: async (id: number): Promise<ScimUserRow | undefined> =>
      (await query<ScimUserRow>(`${userSelect} and u.id = $1`, [id]))[0],
    listUsers: async ({ filter, offset, limit }: ScimQuery): Promise<ScimPage<ScimUserRow>> => {
      const { sql, values } = conditionOf(filter, userFilters);
      const total = await count('api_user u where u.deleted_at is null and not u.is_service', { sql, values });
      const parameterCount = values.length;
      const text = `${userSelect} and ${sql} order by u.id limit $${parameterCount + 1}::int offset $${parameterCount + 2}::int`;
      return { total, rows: limit === 0 ? [] : await query<ScimUserRow>(text, [...values, limit, offset]) };
    },
    findGroup: async (id: number, { includesMembers }: GroupView): Promise<ScimGroupRow | undefined> =>
      (await query<ScimGroupRow>(groupSelect({ includesMembers }, 'user_group g where g.id = $1'), [id]))[0],
    listGroups: async (
      { filter, offset, limit }: ScimQuery,
      { includesMembers }: GroupView,
    ): Promise<ScimPage<ScimGroupRow>> => {
      const { sql, values } = conditionOf(filter, groupFilters);
      const total = await count('user_group g where true', { sql, values });
      if (limit === 0) return { total, rows: [] };
      const parameterCount = values.length;
      const page = `(
        select g.*, sum((select count(*) from group_member where group_id = g.id)) over (order by g.id) as members_so_far,
          (select count(*) from group_member where group_id = g.id) as member_count
        from (select * from user_group g where ${sql} order by g.id limit $${parameterCount + 1}::int offset $${parameterCount + 2}::int) g
      ) g where ${includesMembers ? `members_so_far - member_count < ${maxMembersOfPage}` : 'true'} order by g.id`;
      return {
        total,
        rows: await query<ScimGroupRow>(groupSelect({ includesMembers }, page), [...values, limit, offset]),
      };
    },
  };
}

/** The members whom an identity provider adds to a group, removes from it, and names. */
export interface MembershipChange {
  readonly added: readonly number[];
  readonly removed: readonly number[];
  readonly namedMembers: readonly number[];
}

/** Users and groups as identity providers see and change them. */
export function scimRepository(tx: Tx, guard: Pick<LastAdministratorGuard, 'markLossOfRights'>, record: RecordEvents) {
  const { query } = tx;
  const addMembers = async (group: number, ids: readonly number[], createdBy: string): Promise<void> => {
    if (ids.length === 0) return;
    const text = `
      insert into group_member (group_id, user_id, created_by) select $1, id, $3 from unnest($2::integer[]) as id
      on conflict do nothing`;
    await query(text, [group, ids, createdBy]);
  };
  const removeMembers = async (group: number, ids: readonly number[]): Promise<void> => {
    if (ids.length === 0) return;
    guard.markLossOfRights();
    await query('delete from group_member where group_id = $1 and user_id = any ($2::integer[])', [group, ids]);
  };
  /** Turns memberships that sign-ins began into memberships that SCIM manages, which sign-ins do not end. */
  const claimMembers = async (group: number, ids: readonly number[]): Promise<void> => {
    if (ids.length === 0) return;
    await query(
      'update group_member set is_synced = false where group_id = $1 and user_id = any ($2::integer[]) and is_synced',
      [group, ids],
    );
  };

  return {
    ...scimReads({ query }),
    /** Stores the attributes of a user that Bunting does not use. No event has them. */
    setProvisionedUser: async (id: number, provisioned: UnusedUserAttributes): Promise<void> => {
      await query('update api_user set provisioned = $2 where id = $1', [id, JSON.stringify(provisioned)]);
    },
    /** Which of the ids are users; locks them against deletion until the transaction ends. */
    findUserIds: async (ids: readonly number[]): Promise<ReadonlySet<number>> => {
      const text = `
        select id from api_user where id = any ($1::integer[]) and deleted_at is null and not is_service order by id for share`;
      return new Set((await query<{ id: number }>(text, [ids])).map(({ id }) => id));
    },
    /** Creates a group with its members. @throws Refusal `NameExistsError` */
    addGroup: async (
      group: GroupContent,
      members: readonly number[],
      createdBy: string,
      eventsOf: EventsOf<ProvisionedGroup>,
    ): Promise<ProvisionedGroup> => {
      const stored = await storeGroupWithoutMembers(tx, guard, group, { createdBy, id: undefined });
      await addMembers(stored.id, members, createdBy);
      record(eventsOf(stored));
      return stored;
    },
    /** Updates a group, and changes its members. @param addedBy who adds the new members @throws Refusal `NameExistsError` */
    saveGroup: async (
      group: ProvisionedGroup,
      { added, removed, namedMembers }: MembershipChange,
      addedBy: string,
      events: readonly EventContent[],
    ): Promise<void> => {
      await storeGroupWithoutMembers(tx, guard, group, { createdBy: addedBy, id: group.id });
      await removeMembers(group.id, removed);
      await addMembers(group.id, added, addedBy);
      await claimMembers(group.id, namedMembers);
      record(events);
    },
    /** The ids of all members, or of those among `userIds`; their memberships are locked, so that no sign-in ends one until the commit. */
    memberIds: async (group: number, userIds?: readonly number[]): Promise<readonly number[]> => {
      const text = `
        select user_id as id from group_member
        where group_id = $1 and ($2::integer[] is null or user_id = any ($2::integer[])) order by user_id for update`;
      return (await query<{ id: number }>(text, [group, userIds ?? null])).map(({ id }) => id);
    },
  };
}
