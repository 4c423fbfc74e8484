import type { EventContent } from '@bunting/contracts';
import { isJsonObject } from '@bunting/contracts';
import type { Filter } from 'scim2-parse-filter';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { groupCreated, groupDeleted, groupEventData, type GroupProperties, membershipEvents } from '../groups/group.ts';
import {
  invalidValue,
  notFoundResource,
  parsePatchOperations,
  parseResourceId,
  scimCaller,
  ScimError,
} from './scim-request.ts';
import { type GroupView, parseScimFilter, type ScimGroupRow } from './scim-store.ts';
import type { UnusedGroupAttributes } from './scim-users.ts';

export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

type Attributes = Record<string, unknown>;

export function groupResource({ id, name, provisioned, members, createdAt }: ScimGroupRow, base: string): object {
  return {
    schemas: [groupSchema],
    id: String(id),
    ...(provisioned?.externalId === undefined ? {} : { externalId: provisioned.externalId }),
    displayName: name,
    ...(members === null
      ? {}
      : {
          members: members.map((member) => ({
            value: String(member.id),
            display: member.name,
            $ref: `${base}/Users/${member.id}`,
            type: 'User',
          })),
        }),
    meta: { resourceType: 'Group', created: createdAt, location: `${base}/Groups/${id}` },
  };
}

function nameIn(value: unknown): string {
  const name = typeof value === 'string' ? value.normalize('NFC').trim() : '';
  if (name === '' || name.length > 255) throw invalidValue('displayName must be text of 1 to 255 characters.');
  return name;
}

function externalIdIn(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string' || value.length > 255)
    throw invalidValue('externalId must be text of at most 255 characters.');
  return value;
}

/** The id of a member. Groups and users have ids of their own, so a group must not be taken for the user with its id. */
function memberIn(value: unknown): number {
  if (isJsonObject(value) && typeof value['type'] === 'string' && value['type'].toLowerCase() === 'group')
    throw invalidValue('Members of a group are users: a group cannot be a member of another one.');
  const id = parseResourceId(isJsonObject(value) ? value['value'] : value);
  if (id === undefined) throw invalidValue('Each member must have the id of a user as its value.');
  return id;
}

function membersIn(value: unknown): number[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(memberIn);
}

/** The value of an attribute, whatever the case of its name in the body. */
function attributeIn(body: Attributes, attributeName: string): unknown {
  return Object.entries(body).find(([name]) => name.toLowerCase() === attributeName.toLowerCase())?.[1];
}

const noUsers: ReadonlySet<number> = new Set();

/** The group that the body of a POST or PUT describes. @throws ScimError 400 */
function parseScimGroup(body: unknown): Required<ProvisionedGroupChange> {
  if (!isJsonObject(body)) throw new ScimError(400, 'The body must be a group.', 'invalidSyntax');
  return {
    name: nameIn(attributeIn(body, 'displayName')),
    externalId: externalIdIn(attributeIn(body, 'externalId')),
    members: new Set(membersIn(attributeIn(body, 'members'))),
    added: noUsers,
    removed: noUsers,
  };
}

function invalidPath(path: unknown): ScimError {
  return new ScimError(400, `A group has no attribute at the path ${String(path).slice(0, 100)}.`, 'invalidPath');
}

/** The ids in the path `members[value eq "…"]`; several are joined by `or`. */
function idsInPath(path: string): number[] {
  const idsOf = (filter: Filter): number[] => {
    if (filter.op === 'or') return filter.filters.flatMap(idsOf);
    if (filter.op !== 'eq' || filter.attrPath.toLowerCase() !== 'value') throw invalidPath(path);
    return [memberIn(String(filter.compValue))];
  };
  let filter: Filter;
  try {
    filter = parseScimFilter(path);
  } catch {
    throw invalidPath(path);
  }
  if (filter.op !== '[]' || filter.attrPath.toLowerCase() !== 'members') throw invalidPath(path);
  return idsOf(filter.valFilter);
}

/** Folds the operations of a PATCH into one change. @throws ScimError 400 */
export function parseGroupPatch(body: unknown): ProvisionedGroupChange {
  const change: { name?: string; externalId?: string | null; members?: Set<number> } = {};
  const added = new Set<number>();
  const removed = new Set<number>();
  const add = (ids: readonly number[]) => {
    for (const id of ids) {
      removed.delete(id);
      (change.members ?? added).add(id);
    }
  };
  const remove = (ids: readonly number[]) => {
    for (const id of ids) {
      added.delete(id);
      if (change.members === undefined) removed.add(id);
      else change.members.delete(id);
    }
  };
  const replace = (ids: readonly number[]) => {
    added.clear();
    removed.clear();
    change.members = new Set(ids);
  };
  const apply = (op: 'add' | 'replace' | 'remove', path: string, value: unknown): void => {
    const name = path.replace(new RegExp(`^${groupSchema}:`, 'i'), '');
    switch (name.toLowerCase()) {
      case 'displayname':
        change.name = nameIn(value);
        return;
      case 'externalid':
        change.externalId = op === 'remove' ? null : externalIdIn(value);
        return;
      case 'members':
        if (op === 'add') add(membersIn(value));
        else if (op === 'replace' || value === undefined) replace(op === 'replace' ? membersIn(value) : []);
        else remove(membersIn(value));
        return;
      default:
        // Attributes that Bunting does not have, and those that never change, are accepted without effect.
        if (!/^members\b/i.test(name)) return;
        if (op !== 'remove' || path.length > 20_000) throw invalidPath(path);
        remove(idsInPath(name));
    }
  };
  for (const { op, path, value } of parsePatchOperations(body)) {
    if (typeof path === 'string' && path !== '') apply(op, path, value);
    else if (op !== 'remove' && isJsonObject(value))
      for (const [name, attributeValue] of Object.entries(value)) apply(op, name, attributeValue);
    else throw new ScimError(400, 'An operation needs a path, or an object as its value.', 'invalidPath');
  }
  return { ...change, added, removed };
}

/** A group as an identity provider manages it, without its members: there can be many. */
export interface ProvisionedGroup extends GroupProperties {
  readonly provisioned: UnusedGroupAttributes | null;
}

/** The changes that an identity provider makes to a group. A property that is undefined does not change. */
export interface ProvisionedGroupChange {
  readonly name?: string;
  readonly externalId?: string | null;
  /** all members */
  readonly members?: ReadonlySet<number>;
  readonly added: ReadonlySet<number>;
  readonly removed: ReadonlySet<number>;
}

function isRenamed({ name: before }: ProvisionedGroup, { name = before }: ProvisionedGroupChange): boolean {
  return name !== before;
}

/** The users whose membership must be loaded before a change is decided; undefined for all members. */
export function membersToLoad(before: ProvisionedGroup, change: ProvisionedGroupChange): readonly number[] | undefined {
  return change.members !== undefined || isRenamed(before, change) ? undefined : [...change.added, ...change.removed];
}

/**
 * A group after a change, the members that the change names, adds and removes, and the events. Unlike for a request to the API, `group-updated`
 * is emitted for another name only: it has the ids of all members, and would be too large for each member that is added.
 * @param members the members among `membersToLoad`
 */
export function changeProvisionedGroup(
  before: ProvisionedGroup,
  members: readonly number[],
  change: ProvisionedGroupChange,
) {
  const { name = before.name, externalId = before.provisioned?.externalId ?? null } = change;
  const after: ProvisionedGroup = { ...before, name, provisioned: externalId === null ? {} : { externalId } };
  const currentMembers = new Set(members);
  const namedMembers = change.members ?? change.added;
  const isRemoved = (id: number): boolean =>
    change.members === undefined ? change.removed.has(id) : !change.members.has(id);
  const added = [...namedMembers].filter((id) => !currentMembers.has(id));
  const removed = members.filter(isRemoved);
  const membersAfter = [...members.filter((id) => !isRemoved(id)), ...added].toSorted((one, other) => one - other);
  const renaming: EventContent = {
    type: 'group-updated',
    data: groupEventData(after, membersAfter),
    preData: groupEventData(before, members),
  };
  return {
    after,
    namedMembers: [...namedMembers],
    added,
    removed,
    events: [...(isRenamed(before, change) ? [renaming] : []), ...membershipEvents(after, added, removed)],
  };
}

async function requireUsers({ scim }: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const existing = await scim.findUserIds(ids);
  const unknown = ids.find((id) => !existing.has(id));
  if (unknown !== undefined) throw invalidValue(`There is no user with the id ${unknown}.`);
}

/** A group as identity providers see it. @throws ScimError 404 */
export async function getScimGroup(
  { scim }: Pick<GatewayReads, 'scim'>,
  id: number,
  view: GroupView,
): Promise<ScimGroupRow> {
  const row = await scim.findGroup(id, view);
  if (row === undefined) throw notFoundResource('group', String(id));
  return row;
}

/** Creates a group with its members. @throws ScimError 409 for a name that is taken */
export async function createScimGroup(tx: Transaction, body: unknown): Promise<ScimGroupRow> {
  const { name, externalId, members } = parseScimGroup(body);
  await requireUsers(tx, [...members]);
  const provisioned = externalId === null ? {} : { externalId };
  const content = { name, description: null, mappingsSSO: [], rootRole: null, provisioned };
  const { id } = await tx.scim.addGroup(content, [...members], scimCaller.name, (group) => [
    groupCreated(group, [...members]),
  ]);
  return getScimGroup(tx, id, { includesMembers: true });
}

async function getGroupForUpdate({ groups }: Transaction, id: number): Promise<ProvisionedGroup> {
  const group = await groups.findWithoutMembersForUpdate(id);
  if (group === undefined) throw notFoundResource('group', String(id));
  return group;
}

async function changeGroup(tx: Transaction, id: number, change: ProvisionedGroupChange): Promise<void> {
  const before = await getGroupForUpdate(tx, id);
  const members = await tx.scim.memberIds(id, membersToLoad(before, change));
  const { after, events, ...memberships } = changeProvisionedGroup(before, members, change);
  // A patch names the users that it adds. A list of all members may repeat service accounts that were added through the API, not through
  // SCIM.
  await requireUsers(tx, change.members === undefined ? memberships.namedMembers : memberships.added);
  await tx.scim.saveGroup(after, memberships, scimCaller.name, events);
}

export async function replaceScimGroup(tx: Transaction, id: number, body: unknown): Promise<ScimGroupRow> {
  await changeGroup(tx, id, parseScimGroup(body));
  return getScimGroup(tx, id, { includesMembers: true });
}

/** Applies a patch to a group. The members are not returned: a group can have many. */
export async function patchScimGroup(tx: Transaction, id: number, body: unknown): Promise<null> {
  await changeGroup(tx, id, parseGroupPatch(body));
  return null;
}

/** Deletes a group with its memberships and roles. */
export async function deleteScimGroup(tx: Transaction, id: number): Promise<null> {
  const group = await getGroupForUpdate(tx, id);
  const members = await tx.scim.memberIds(id);
  await tx.groups.remove(id, [groupDeleted(group, members)]);
  return null;
}
