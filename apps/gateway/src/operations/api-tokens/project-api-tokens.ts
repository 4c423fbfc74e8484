import { implement } from '@bunting/bus';
import {
  CreateProjectApiToken,
  DeleteProjectApiToken,
  ListProjectApiTokens,
  may,
  noAccess,
  notFound,
} from '@bunting/contracts';
import { kindsFor, newToken } from '../../domain/new-token.ts';
import { wrong } from '../../domain/refusals.ts';
import type { StoredToken } from '../../persistence/stored-tokens.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import type { PlacesKnown } from '../places.ts';
import { maySeeToken } from './found-token.ts';
import { makeToken } from './make-token.ts';
import { answered, listed, tokenEvent } from './told-token.ts';

/** The kinds of tokens that a project has: those of applications. */
const kinds = ['client', 'frontend'] as const;

export const listProjectApiTokensEndpoint = (work: UnitOfWork, places: PlacesKnown) =>
  implement(ListProjectApiTokens, async (asked) => {
    const { caller, params } = asked;
    await places.requireProject(asked, params.projectId);
    return work(asked, async ({ tokens }) => {
      const found = await tokens.list(kinds, params.projectId);
      const creatable = kindsFor(caller, 'CREATE');
      const mayCreate = ({ type, projects, environment }: StoredToken): boolean =>
        creatable.includes(type) ||
        (projects.every((project) => project === params.projectId) &&
          may(caller, ['CREATE_PROJECT_API_TOKEN'], { project: params.projectId, environment }));
      return {
        tokens: found.filter((token) => maySeeToken(caller, token)).map((token) => listed(token, mayCreate(token))),
      };
    });
  });

export const createProjectApiTokenEndpoint = (work: UnitOfWork, places: PlacesKnown) =>
  implement(CreateProjectApiToken, async (asked) => {
    const { caller, params, body, now } = asked;
    const { projectId } = params;
    const [environments] = await Promise.all([places.environments(asked), places.requireProject(asked, projectId)]);
    const named = [...(body.projects ?? []), ...(body.project === undefined ? [] : [body.project])];
    if (named.some((project) => project !== projectId))
      throw wrong(`A token of the project ${projectId} gives this project alone`, '/body/projects');
    const known = { environments, projects: [projectId] };
    if (body.type.toLowerCase() === 'admin') throw wrong('A token of a project is no admin token', '/body/type');
    const token = newToken({ ...body, projects: [projectId] }, caller, known, now);
    const where = { project: projectId, environment: token.environment };
    if (!may(caller, ['CREATE_PROJECT_API_TOKEN'], where)) {
      throw noAccess(['CREATE_PROJECT_API_TOKEN'], token.environment);
    }
    await places.requireHeardOf([projectId]);
    return work.revealing(asked, (tx) => makeToken(tx, token, caller.id));
  });

export const deleteProjectApiTokenEndpoint = (work: UnitOfWork) =>
  implement(DeleteProjectApiToken, (asked) =>
    work(asked, async ({ tokens, tell }) => {
      const { projectId, token: wanted } = asked.params;
      const token = await tokens.find(wanted, kinds);
      // One that gives other projects as well is not this project's to delete.
      if (token === undefined || token.projects.some((project) => project !== projectId))
        throw notFound('Could not find the token');
      await tokens.revoke(token.id);
      tell(tokenEvent('api-token-deleted', { preData: answered(token) }));
      return null;
    }),
  );
