import type { FastifyInstance } from 'fastify';
import type { ScimQuery } from '../persistence/identity/scim-repository.ts';
import type { GatewayReads } from '../persistence/reads.ts';
import {
  createGroup,
  createUser,
  deleteGroup,
  deleteUser,
  getGroup,
  getUser,
  patchGroup,
  patchUser,
  replaceGroup,
  replaceUser,
} from './provision.ts';
import { discoveryDocuments } from './scim-discovery.ts';
import { ScimError } from './scim-error.ts';
import { groupResource } from './scim-group.ts';
import { groupViewOf, resourceIdOf, pageOf } from './scim-request.ts';
import { type ScimResponse, type ScimRoute, type ScimRouteOptions, scimRouter } from './scim-route.ts';
import { userResource } from './scim-user.ts';

export interface ScimOptions extends ScimRouteOptions {
  readonly reads: Pick<GatewayReads, 'scim'>;
}

const listResponse = (total: number, { offset }: ScimQuery, resources: readonly object[]): ScimResponse => [
  200,
  {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  },
];

const mountUsers = (route: ScimRoute, reads: ScimOptions['reads']): void => {
  route('GET', '/Users', async ({ request, base }) => {
    const page = pageOf(request);
    const { total, rows } = await reads.scim.listUsers(page);
    return listResponse(
      total,
      page,
      rows.map((row) => userResource(row, base)),
    );
  });
  route('GET', '/Users/:id', async ({ request, base }) => {
    const user = await getUser(reads, resourceIdOf('user', request));
    return [200, userResource(user, base)];
  });
  route('POST', '/Users', async ({ reply, base, run }, body) => {
    const row = await run((tx) => createUser(tx, body));
    reply.header('location', `${base}/Users/${row.id}`);
    return [201, userResource(row, base)];
  });
  route('PUT', '/Users/:id', async ({ request, base, run }, body) => {
    const id = resourceIdOf('user', request);
    return [200, userResource(await run((tx) => replaceUser(tx, id, body)), base)];
  });
  route('PATCH', '/Users/:id', async ({ request, base, run }, body) => {
    const id = resourceIdOf('user', request);
    return [200, userResource(await run((tx) => patchUser(tx, id, body)), base)];
  });
  route('DELETE', '/Users/:id', async ({ request, run }) => {
    const id = resourceIdOf('user', request);
    await run((tx) => deleteUser(tx, id));
    return [204];
  });
};

const mountGroups = (route: ScimRoute, reads: ScimOptions['reads']): void => {
  route('GET', '/Groups', async ({ request, base }) => {
    const page = pageOf(request);
    const { total, rows } = await reads.scim.listGroups(page, groupViewOf(request));
    return listResponse(
      total,
      page,
      rows.map((row) => groupResource(row, base)),
    );
  });
  route('GET', '/Groups/:id', async ({ request, base }) => {
    const group = await getGroup(reads, resourceIdOf('group', request), groupViewOf(request));
    return [200, groupResource(group, base)];
  });
  route('POST', '/Groups', async ({ reply, base, run }, body) => {
    const row = await run((tx) => createGroup(tx, body));
    reply.header('location', `${base}/Groups/${row.id}`);
    return [201, groupResource(row, base)];
  });
  route('PUT', '/Groups/:id', async ({ request, base, run }, body) => {
    const id = resourceIdOf('group', request);
    return [200, groupResource(await run((tx) => replaceGroup(tx, id, body)), base)];
  });
  route('PATCH', '/Groups/:id', async ({ request, run }, body) => {
    const id = resourceIdOf('group', request);
    await run((tx) => patchGroup(tx, id, body));
    return [204];
  });
  route('DELETE', '/Groups/:id', async ({ request, run }) => {
    const id = resourceIdOf('group', request);
    await run((tx) => deleteGroup(tx, id));
    return [204];
  });
};

/** Mounts `/scim/v2`, by which an identity provider manages users and groups (RFC 7643, RFC 7644). */
export const mountScim = (app: FastifyInstance, options: ScimOptions): void => {
  const route = scimRouter(app, options);
  mountUsers(route, options.reads);
  mountGroups(route, options.reads);
  route(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], '/*', async ({ request, base }) => {
    const { '*': path = '' } = request.params as { '*'?: string };
    const document = request.method === 'GET' ? discoveryDocuments(base).get(path) : undefined;
    if (document === undefined)
      throw new ScimError(404, 'There is nothing at this address of SCIM. /ResourceTypes lists what there is.');
    return [200, document];
  });
};
