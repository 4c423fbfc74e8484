import { call, implement, onBehalfOf } from '@bunting/bus';
import { GetUsersAccess, invalid, SetApprovers } from '@bunting/contracts';
import { requireAskable } from '../../domain/approvers.ts';
import { requireVisible } from '../../domain/move.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Asks for the approval of users who exist. Whether they may approve shows when they do. */
export const setApproversEndpoint = ({ bus, work }: ChangeRequestsContext) =>
  implement(SetApprovers, async (asked) => {
    const { params, body, caller } = asked;
    const ids = body.reviewers;
    if (ids.length > 0) {
      const { users } = await call(bus, GetUsersAccess, { body: { ids } }, onBehalfOf(asked));
      const missing = ids.findIndex((id) => !users.some(({ user }) => user.id === id));
      if (missing >= 0) {
        const path = `/body/reviewers/${missing}`;
        throw invalid(`The \`${path}\` property must be the id of an active user. You provided ${ids[missing]}.`, path);
      }
    }
    return work(asked, async ({ requests }) => {
      const request = requireVisible(await requests.getInProject(params.id, params.projectId), params.id, caller.id);
      requireAskable(request, caller.id);
      await requests.requestApprovers(request, ids);
      return null;
    });
  });
