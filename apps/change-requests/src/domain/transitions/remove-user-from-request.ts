import { systemCaller } from '@bunting/contracts';
import { type ChangeRequest, type ChangeRequestDecision, withoutEvents } from '../../requests/change-request.ts';
import { isPending } from '../content/pending-states.ts';
import { executeCommand, suspendSchedule } from '../../states/commands.ts';
import { noRoles } from '../../reviews/request-roles.ts';

const system = (now: Date) => ({ by: { id: systemCaller.id, name: systemCaller.name }, now });

/** The reason to suspend a schedule after a user was deleted; undefined if the schedule does not depend on that user. */
const reasonFor = (request: ChangeRequest, userId: number): string | undefined => {
  if (request.schedule?.by.id === userId) {
    return `The user who scheduled this change request (user id: ${userId}) has been deleted`;
  }
  return request.createdBy.id === userId
    ? `The author of this change request (user id: ${userId}) has been deleted`
    : undefined;
};

/**
 * Removes a deleted user from an open request, after their approval was taken back. Their own request is cancelled unless it is scheduled. A
 * schedule that they set or that applies their request is suspended.
 */
export const removeUserFromRequest = (request: ChangeRequest, userId: number, now: Date): ChangeRequestDecision => {
  if (isPending(request)) {
    return request.createdBy.id === userId
      ? executeCommand(request, { name: 'cancel' }, { ...system(now), roles: { ...noRoles, isAdministrator: true } })
      : withoutEvents(request);
  }
  const reason = request.schedule === null ? undefined : reasonFor(request, userId);
  return reason === undefined ? withoutEvents(request) : suspendSchedule(request, reason, system(now));
};
