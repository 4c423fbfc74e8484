import { isJsonObject } from '@bunting/contracts';
import type { Filter } from 'scim2-parse-filter';
import { parseScimFilter } from '../../domain/scim/parse-scim-filter.ts';
import type { ProvisionedGroupChange } from '../../domain/scim/provisioned-groups.ts';
import type { ScimGroupRow } from './scim-store.ts';
import { parsePatchOperations, patchOperationKind } from '../../scim/patch-operations.ts';
import { invalidValue, ScimError } from '../../scim/scim-error.ts';
import { parseResourceId } from './scim-request.ts';

export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

type Attributes = Record<string, unknown>;

/** A group as a resource of SCIM. */
export const groupResource = ({ id, name, provisioned, members, createdAt }: ScimGroupRow, base: string): object => ({
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
});

const nameIn = (value: unknown): string => {
  const name = typeof value === 'string' ? value.normalize('NFC').trim() : '';
  if (name === '' || name.length > 255) throw invalidValue('displayName must be text of 1 to 255 characters.');
  return name;
};

const externalIdIn = (value: unknown): string | null => {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string' || value.length > 255)
    throw invalidValue('externalId must be text of at most 255 characters.');
  return value;
};

/** The id of a member. Groups and users have ids of their own, so a group must not be taken for the user with its id. */
const memberIn = (value: unknown): number => {
  if (isJsonObject(value) && typeof value['type'] === 'string' && value['type'].toLowerCase() === 'group')
    throw invalidValue('Members of a group are users: a group cannot be a member of another one.');
  const id = parseResourceId(isJsonObject(value) ? value['value'] : value);
  if (id === undefined) throw invalidValue('Each member must have the id of a user as its value.');
  return id;
};

const membersIn = (value: unknown): number[] => {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(memberIn);
};

/** The value of an attribute, whatever the case of its name in the body. */
const attributeIn = (body: Attributes, attributeName: string): unknown =>
  Object.entries(body).find(([name]) => name.toLowerCase() === attributeName.toLowerCase())?.[1];

const noUsers: ReadonlySet<number> = new Set();

/** The group that the body of a POST or PUT describes. @throws ScimError 400 */
export const parseScimGroup = (body: unknown): Required<ProvisionedGroupChange> => {
  if (!isJsonObject(body)) throw new ScimError(400, 'The body must be a group.', 'invalidSyntax');
  return {
    name: nameIn(attributeIn(body, 'displayName')),
    externalId: externalIdIn(attributeIn(body, 'externalId')),
    members: new Set(membersIn(attributeIn(body, 'members'))),
    added: noUsers,
    removed: noUsers,
  };
};

const invalidPath = (path: unknown): ScimError =>
  new ScimError(400, `A group has no attribute at the path ${String(path).slice(0, 100)}.`, 'invalidPath');

/** The ids in the path `members[value eq "…"]`; several are joined by `or`. */
const idsInPath = (path: string): number[] => {
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
};

/** Folds the operations of a PATCH into one change. @throws ScimError 400 */
export const parseGroupPatch = (body: unknown): ProvisionedGroupChange => {
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
  for (const operation of parsePatchOperations(body)) {
    const op = patchOperationKind(operation);
    const { path, value } = operation;
    if (typeof path === 'string' && path !== '') apply(op, path, value);
    else if (op !== 'remove' && isJsonObject(value))
      for (const [name, attributeValue] of Object.entries(value)) apply(op, name, attributeValue);
    else throw new ScimError(400, 'An operation needs a path, or an object as its value.', 'invalidPath');
  }
  return { ...change, added, removed };
};
