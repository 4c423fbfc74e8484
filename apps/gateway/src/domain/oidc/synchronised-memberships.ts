import type { GatewayEvent } from '../gateway-event.ts';
import { membershipEvents } from '../../access/groups/group.ts';

/** A group of which sign-ins manage the membership of a user: the provider names it, or an earlier sign-in made the user a member. */
export interface SynchronisedGroup {
  readonly id: number;
  readonly name: string;
  /** whether the provider names it now */
  readonly isNamed: boolean;
  readonly isMember: boolean;
}

/** The memberships that a sign-in changes. */
export interface SynchronisedMemberships {
  readonly added: readonly SynchronisedGroup[];
  readonly removed: readonly SynchronisedGroup[];
  /** memberships that the provider no longer names, and that stay because the last administrator would be lost */
  readonly retained: readonly SynchronisedGroup[];
  readonly events: readonly GatewayEvent[];
}

/** Makes a user a member of the groups that the provider names, and ends the memberships of earlier sign-ins in other groups. */
export const synchronisedMemberships = (
  userId: number,
  groups: readonly SynchronisedGroup[],
): SynchronisedMemberships => {
  const added = groups.filter(({ isNamed, isMember }) => isNamed && !isMember);
  const removed = groups.filter(({ isNamed }) => !isNamed);
  return {
    added,
    removed,
    retained: [],
    events: [
      ...added.flatMap((group) => membershipEvents(group, [userId], [])),
      ...removed.flatMap((group) => membershipEvents(group, [], [userId])),
    ],
  };
};

/** The memberships that a sign-in changes when the end of the user's earlier ones would leave no administrator: these are retained. */
export const membershipsRetainingAdministrator = (
  userId: number,
  groups: readonly SynchronisedGroup[],
): SynchronisedMemberships => ({
  ...synchronisedMemberships(
    userId,
    groups.filter(({ isNamed }) => isNamed),
  ),
  retained: groups.filter(({ isNamed }) => !isNamed),
});
