import { implement, onBehalfOf } from '@bunting/bus';
import {
  environmentNotInProject,
  ListEnvironmentSettingsOfProject,
  ListAvailableReviewers,
  ListPermissionHolders,
} from '@bunting/contracts';
import { call } from '../../calls.ts';
import { reviewerOfUser } from './reviewer-of-user.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Lists the users who may approve in an environment. The caller is included only if they may approve their own requests. */
export const listAvailableReviewersEndpoint = ({ bus, rolesOf }: ChangeRequestsContext) =>
  implement(ListAvailableReviewers, async (request) => {
    const { params, caller } = request;
    const { projectId, environment } = params;
    const context = onBehalfOf(request);
    const [{ environments }, { users }] = await Promise.all([
      call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, context),
      call(
        bus,
        ListPermissionHolders,
        { body: { project: projectId, environment, permissions: ['APPROVE_CHANGE_REQUEST'] } },
        context,
      ),
    ]);
    if (!environments.some(({ name }) => name === environment)) {
      throw environmentNotInProject(environment, projectId);
    }
    const rolesForOwn = rolesOf(caller, { project: projectId, environment, createdBy: caller });
    const reviewers = users.filter(({ id }) => rolesForOwn.mayReviewAsAdmin || id !== caller.id);
    return { reviewers: reviewers.map(reviewerOfUser) };
  });
