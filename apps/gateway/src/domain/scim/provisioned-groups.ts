import type { GatewayEvent } from '../gateway-event.ts';
import { groupEventData, type GroupProperties, membershipEvents } from '../../access/groups/group.ts';
import type { UnusedGroupAttributes } from './unused-provider-attributes.ts';

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

const isRenamed = ({ name: before }: ProvisionedGroup, { name = before }: ProvisionedGroupChange): boolean =>
  name !== before;

/** The users whose membership must be loaded before a change is decided; undefined for all members. */
export const membersToLoad = (
  before: ProvisionedGroup,
  change: ProvisionedGroupChange,
): readonly number[] | undefined =>
  change.members !== undefined || isRenamed(before, change) ? undefined : [...change.added, ...change.removed];

/**
 * A group after a change, the members that the change names, adds and removes, and the events. Unlike for a request to the API, `group-updated`
 * is emitted for another name only: it has the ids of all members, and would be too large for each member that is added.
 * @param members the members among `membersToLoad`
 */
export const changeProvisionedGroup = (
  before: ProvisionedGroup,
  members: readonly number[],
  change: ProvisionedGroupChange,
) => {
  const { name = before.name, externalId = before.provisioned?.externalId ?? null } = change;
  const after: ProvisionedGroup = { ...before, name, provisioned: externalId === null ? {} : { externalId } };
  const currentMembers = new Set(members);
  const namedMembers = change.members ?? change.added;
  const isRemoved = (id: number): boolean =>
    change.members === undefined ? change.removed.has(id) : !change.members.has(id);
  const added = [...namedMembers].filter((id) => !currentMembers.has(id));
  const removed = members.filter(isRemoved);
  const membersAfter = [...members.filter((id) => !isRemoved(id)), ...added].toSorted((one, other) => one - other);
  const renaming: GatewayEvent = {
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
};
