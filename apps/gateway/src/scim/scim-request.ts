import { maxId } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { GroupView, ScimQuery } from '../persistence/scim/scim-repository.ts';
import { notFoundResource, ScimError } from './scim-error.ts';

/** The id of a user or group in a request; undefined for text that is none. */
export const parseResourceId = (value: unknown): number | undefined => {
  if (typeof value !== 'string' || !/^[1-9]\d{0,9}$/.test(value)) return undefined;
  return Number(value) <= maxId ? Number(value) : undefined;
};

/** The maximum number of resources in one page of a list. */
export const maxPageSize = 1_000;

/** The number of resources in a page whose size the request does not name. */
export const defaultPageSize = 100;

const queryOf = ({ query }: FastifyRequest): URLSearchParams =>
  new URLSearchParams((query as { search: string }).search);

const countIn = (text: string | null, defaultCount: number): number => {
  if (text === null) return defaultCount;
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimError(400, 'startIndex and count must be integers.', 'invalidValue');
  return Number(text);
};

/** The requested page of a list (RFC 7644, 3.4.2.4): an index below 1 counts as 1, a count below 0 as 0. */
export const pageOf = (request: FastifyRequest): ScimQuery => {
  const query = queryOf(request);
  return {
    filter: query.get('filter'),
    offset: Math.max(1, countIn(query.get('startIndex'), 1)) - 1,
    limit: Math.min(maxPageSize, Math.max(0, countIn(query.get('count'), defaultPageSize))),
  };
};

const namesIn = (text: string | null): string[] =>
  (text ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());

/** Which parts of groups a request asks for, by `attributes` or `excludedAttributes`. */
export const groupViewOf = (request: FastifyRequest): GroupView => {
  const query = queryOf(request);
  const attributes = query.get('attributes');
  return {
    includesMembers:
      attributes === null
        ? !namesIn(query.get('excludedAttributes')).includes('members')
        : namesIn(attributes).some((name) => name.startsWith('members')),
  };
};

/** The id of a user or group in the path of a request. @throws ScimError 404 for text that is none */
export const requireResourceId = (type: string, { params }: FastifyRequest): number => {
  const { id = '' } = params as { id?: string };
  const resourceId = parseResourceId(id);
  if (resourceId === undefined) throw notFoundResource(type, id);
  return resourceId;
};
