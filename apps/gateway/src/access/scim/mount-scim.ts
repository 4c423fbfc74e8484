import type { FastifyInstance } from 'fastify';
import type { ScimQuery } from './scim-store.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import {
  createScimGroup,
  deleteScimGroup,
  getScimGroup,
  patchScimGroup,
  replaceScimGroup,
} from '../../scim/provision-groups.ts';
import {
  createScimUser,
  deleteScimUser,
  getScimUser,
  patchScimUser,
  replaceScimUser,
} from '../../scim/provision-users.ts';
import { discoveryDocuments } from './discovery-documents.ts';
import { ScimError } from '../../scim/scim-error.ts';
import { groupResource } from './scim-groups.ts';
import { attributesSelector, groupViewOf, pageOf, requireResourceId } from './scim-request.ts';
import { type ScimResponse, type ScimRouter, type ScimRouterOptions, scimRouter } from '../../scim/scim-router.ts';
import { userResource } from './scim-users.ts';

export interface ScimOptions extends ScimRouterOptions {
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

const mountUsers = (route: ScimRouter, reads: ScimOptions['reads']): void => {
  route('GET', '/Users', async ({ request, base }) => {
    const [page, select] = [pageOf(request), attributesSelector(request)];
    const { total, rows } = await reads.scim.listUsers(page);
    return listResponse(
      total,
      page,
      rows.map((row) => select(userResource(row, base))),
    );
  });
  route('GET', '/Users/:id', async ({ request, base }) => {
    const user = await getScimUser(reads, requireResourceId('user', request));
    return [200, attributesSelector(request)(userResource(user, base))];
  });
  route('POST', '/Users', async ({ request, reply, base, run }, body) => {
    const row = await run((tx) => createScimUser(tx, body));
    reply.header('location', `${base}/Users/${row.id}`);
    return [201, attributesSelector(request)(userResource(row, base))];
  });
  route('PUT', '/Users/:id', async ({ request, base, run }, body) => {
    const id = requireResourceId('user', request);
    const row = await run((tx) => replaceScimUser(tx, id, body));
    return [200, attributesSelector(request)(userResource(row, base))];
  });
  route('PATCH', '/Users/:id', async ({ request, base, run }, body) => {
    const id = requireResourceId('user', request);
    const row = await run((tx) => patchScimUser(tx, id, body));
    return [200, attributesSelector(request)(userResource(row, base))];
  });
  route('DELETE', '/Users/:id', async ({ request, run }) => {
    const id = requireResourceId('user', request);
    await run((tx) => deleteScimUser(tx, id));
    return [204];
  });
};

const mountGroups = (route: ScimRouter, reads: ScimOptions['reads']): void => {
  route('GET', '/Groups', async ({ request, base }) => {
    const [page, select] = [pageOf(request), attributesSelector(request)];
    const { total, rows } = await reads.scim.listGroups(page, groupViewOf(request));
    return listResponse(
      total,
      page,
      rows.map((row) => select(groupResource(row, base))),
    );
  });
  route('GET', '/Groups/:id', async ({ request, base }) => {
    const group = await getScimGroup(reads, requireResourceId('group', request), groupViewOf(request));
    return [200, attributesSelector(request)(groupResource(group, base))];
  });
  route('POST', '/Groups', async ({ request, reply, base, run }, body) => {
    const row = await run((tx) => createScimGroup(tx, body));
    reply.header('location', `${base}/Groups/${row.id}`);
    return [201, attributesSelector(request)(groupResource(row, base))];
  });
  route('PUT', '/Groups/:id', async ({ request, base, run }, body) => {
    const id = requireResourceId('group', request);
    const row = await run((tx) => replaceScimGroup(tx, id, body));
    return [200, attributesSelector(request)(groupResource(row, base))];
  });
  route('PATCH', '/Groups/:id', async ({ request, run }, body) => {
    const id = requireResourceId('group', request);
    await run((tx) => patchScimGroup(tx, id, body));
    return [204];
  });
  route('DELETE', '/Groups/:id', async ({ request, run }) => {
    const id = requireResourceId('group', request);
    await run((tx) => deleteScimGroup(tx, id));
    return [204];
  });
};

/** The methods at a path of users or groups; undefined for other paths. */
const methodsAt = (path: string): string | undefined => {
  if (path === 'Users' || path === 'Groups') return 'GET, POST';
  return /^(?:Users|Groups)\/[^/]+$/.test(path) ? 'GET, PUT, PATCH, DELETE' : undefined;
};

/** Mounts `/scim/v2`, by which an identity provider manages users and groups (RFC 7643, RFC 7644). */
export const mountScim = (app: FastifyInstance, options: ScimOptions): void => {
  const route = scimRouter(app, options);
  mountUsers(route, options.reads);
  mountGroups(route, options.reads);
  route(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], '/*', async ({ request, reply, base }) => {
    const { '*': path = '' } = request.params as { '*'?: string };
    const document = discoveryDocuments(base).get(path);
    if (request.method === 'GET' && document !== undefined) return [200, document];
    if (/^(?:(?:Users|Groups)\/)?\.search$/.test(path))
      throw new ScimError(501, 'A search by POST is not supported: GET with a filter finds the same.');
    const methods = document === undefined ? methodsAt(path) : 'GET';
    if (methods === undefined)
      throw new ScimError(404, 'There is nothing at this address of SCIM. /ResourceTypes lists what there is.');
    reply.header('allow', methods);
    throw new ScimError(405, `${request.method} is not possible here. Possible: ${methods}.`);
  });
};
