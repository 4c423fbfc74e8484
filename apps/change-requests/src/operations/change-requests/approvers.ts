import { call, implement, onBehalfOf } from '@bunting/bus';
import {
  GetApprovers,
  GetProjectEnvironments,
  GetUsersAccess,
  invalid,
  ListAvailableReviewers,
  ListHolders,
  notFound,
  SetApprovers,
} from '@bunting/contracts';
import { askedReviewers, requireAskable } from '../../domain/approvers.ts';
import { requireVisible } from '../../domain/move.ts';
import { reviewerOf } from '../reviewer-card.ts';
import type { Surroundings } from '../surroundings.ts';

/** Lists who may approve there. Callers are among them only where they may approve what they propose. */
export const listAvailableReviewersEndpoint = ({ bus, rolesOf }: Pick<Surroundings, 'bus' | 'rolesOf'>) =>
  implement(ListAvailableReviewers, async (asked) => {
    const { params, caller } = asked;
    const { projectId: project, environment } = params;
    const context = onBehalfOf(asked);
    const [{ environments }, { users }] = await Promise.all([
      call(bus, GetProjectEnvironments, { params: { projectId: project } }, context),
      call(bus, ListHolders, { body: { project, environment, permissions: ['APPROVE_CHANGE_REQUEST'] } }, context),
    ]);
    if (!environments.some(({ name }) => name === environment)) {
      throw notFound(`Could not find environment ${environment} for project ${project}`);
    }
    const approvesOwn = rolesOf(caller, { project, environment, createdBy: { id: caller.id, name: null } }).admin;
    return { reviewers: users.filter(({ id }) => approvesOwn || id !== caller.id).map(reviewerOf) };
  });

export const getApproversEndpoint = ({ bus, reader }: Pick<Surroundings, 'bus' | 'reader'>) =>
  implement(GetApprovers, async (asked) => {
    const { params, caller } = asked;
    const request = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
    const ids = await reader.requestedApprovers(request.id);
    if (ids.length === 0) return { reviewers: [] };
    const { users } = await call(bus, GetUsersAccess, { body: { ids } }, onBehalfOf(asked));
    const known = new Map(users.map(({ user }) => [user.id, reviewerOf(user)]));
    return { reviewers: askedReviewers(ids, known, request) };
  });

/** Asks for the approval of users who exist. Whether they may approve shows when they do. */
export const setApproversEndpoint = ({ bus, work }: Pick<Surroundings, 'bus' | 'work'>) =>
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
