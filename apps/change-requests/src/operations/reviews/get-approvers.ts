import { implement, onBehalfOf } from '@bunting/bus';
import { GetApprovers, GetPermissionsOfUsers } from '@bunting/contracts';
import { call } from '../../calls.ts';
import { requestedReviewersWithStatus } from '../../domain/review/requested-reviewers.ts';
import { reviewerOfUser } from './reviewer-of-user.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { readInProject } from '../require-project.ts';

export const getApproversEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(GetApprovers, async (operationRequest) => {
    const { params, caller } = operationRequest;
    const request = await readInProject(bus, operationRequest, reader.getVisible(params, caller.id));
    const ids = await reader.requestedApprovers(request.id);
    if (ids.length === 0) return { reviewers: [] };
    const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids } }, onBehalfOf(operationRequest));
    const reviewers = new Map(users.map(({ user }) => [user.id, reviewerOfUser(user)]));
    return { reviewers: requestedReviewersWithStatus(ids, reviewers, request) };
  });
