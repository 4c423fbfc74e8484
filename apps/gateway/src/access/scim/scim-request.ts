import { maxId } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { GroupView, ScimQuery } from './scim-store.ts';
import { notFoundResource, ScimError } from '../../scim/scim-error.ts';

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

type Resource = Readonly<Record<string, unknown>>;

/** The names of attributes in a parameter, without the schema that they may begin with. */
const namesIn = (text: string | null): string[] =>
  (text ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^urn:.*:/, ''));

const isRecord = (value: unknown): value is Resource => typeof value === 'object' && value !== null;

/** The members of a value that `keeps` accepts by their path in lower case; whole where it accepts the path of the value. */
const selected = (value: Resource, prefix: string, keeps: (path: string) => boolean | 'in part'): Resource =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
      const kept = keeps(prefix + key.toLowerCase());
      if (kept === false) return [];
      const partOf = (whole: unknown): unknown =>
        isRecord(whole) ? selected(whole, `${prefix}${key.toLowerCase()}.`, (path) => keeps(path) === true) : whole;
      return [[key, kept === true ? member : Array.isArray(member) ? member.map(partOf) : partOf(member)]];
    }),
  );

/** A function that takes what `attributes` asks for, or leaves out `excludedAttributes` (RFC 7644, 3.9); `schemas` and `id` always stay. */
export const attributesSelector = (request: FastifyRequest): ((resource: object) => object) => {
  const query = queryOf(request);
  const [wanted, excluded] = [query.get('attributes'), query.get('excludedAttributes')];
  if (wanted === null && excluded === null) return (resource) => resource;
  const names = namesIn(wanted ?? excluded);
  const isNamed = (path: string) => names.some((name) => name === path || path.startsWith(`${name}.`));
  const hasNamedPart = (path: string) => names.some((name) => name.startsWith(`${path}.`));
  const keeps = (path: string): boolean | 'in part' => {
    if (path === 'id' || path === 'schemas') return true;
    if (wanted !== null) return isNamed(path) || (hasNamedPart(path) ? 'in part' : false);
    return hasNamedPart(path) ? 'in part' : !isNamed(path);
  };
  return (resource) => selected(resource as Resource, '', keeps);
};

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
