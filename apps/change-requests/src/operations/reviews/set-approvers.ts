import { implement, onBehalfOf } from '@bunting/bus';
import { GetPermissionsOfUsers, SetApprovers } from '@bunting/contracts';
import { call } from '../../calls.ts';
import { requireActiveReviewers, requireMayRequestApproval } from '../../domain/review/requested-reviewers.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { requireProject } from '../require-project.ts';

/** Requests approvals of existing users. Their permission is checked only when they approve. */
export const setApproversEndpoint = ({ bus, transaction }: ChangeRequestsContext) =>
  implement(SetApprovers, async (operationRequest) => {
    const { params, body, caller } = operationRequest;
    const ids = body.reviewers;
    await requireProject(bus, operationRequest);
    if (ids.length > 0) {
      const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids } }, onBehalfOf(operationRequest));
      requireActiveReviewers(ids, new Set(users.map(({ user }) => user.id)));
    }
    return transaction(operationRequest, async ({ requests }) => {
      const request = await requests.getVisible(params, caller.id);
      requireMayRequestApproval(request, caller.id);
      await requests.requestApprovers(request, ids);
      return null;
    });
  });
