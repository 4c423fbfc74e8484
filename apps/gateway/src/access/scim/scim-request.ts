import { type Caller, isJsonObject, maxId, Refusal, systemCaller } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import { httpStatusOf } from '@bunting/http';
import { AccountExistsRefusal } from '../users/account.ts';
import { type GroupView, InvalidFilter, type ScimQuery } from './scim-store.ts';

/** The values of `scimType`, which specifies an error with the status 400 or 409 (RFC 7644, 3.12). */
export type ScimType =
  'invalidFilter' | 'invalidPath' | 'noTarget' | 'invalidSyntax' | 'invalidValue' | 'tooMany' | 'uniqueness';

export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export function invalidValue(detail: string): ScimError {
  return new ScimError(400, detail, 'invalidValue');
}
export function notFoundResource(type: string, id: string): ScimError {
  return new ScimError(404, `There is no ${type} with the id ${id.slice(0, 100)}.`);
}

/** The error of SCIM for a thrown error; undefined for a defect. */
export function scimErrorOf(error: unknown): ScimError | undefined {
  if (error instanceof ScimError) return error;
  if (error instanceof InvalidFilter) return new ScimError(400, error.message, 'invalidFilter');
  if (error instanceof AccountExistsRefusal) {
    const detail = 'Another account has this userName or e-mail address. Send others, or delete that account.';
    return new ScimError(409, detail, 'uniqueness');
  }
  if (!(error instanceof Refusal)) return undefined;
  // A fault of the body as a whole: it is no JSON, or nested too deeply.
  const isOfBody = error.details.some(({ path }) => path === '/body');
  const scimType = (
    { NameExistsError: 'uniqueness', ValidationError: isOfBody ? 'invalidSyntax' : 'invalidValue' } as const
  )[error.kind as string];
  return new ScimError(httpStatusOf[error.kind], error.message, scimType);
}

export function scimErrorBody({ status, scimType, message }: ScimError): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: message,
  };
}

/** The id of a user or group in a request; undefined for text that is none. */
export function parseResourceId(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^[1-9]\d{0,9}$/.test(value)) return undefined;
  return Number(value) <= maxId ? Number(value) : undefined;
}

/** The maximum number of resources in one page of a list. */
export const maxPageSize = 1_000;

/** The number of resources in a page whose size the request does not name. */
const defaultPageSize = 100;

function queryOf({ query }: FastifyRequest): URLSearchParams {
  return new URLSearchParams((query as { search: string }).search);
}

function countIn(text: string | null, defaultCount: number): number {
  if (text === null) return defaultCount;
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimError(400, 'startIndex and count must be integers.', 'invalidValue');
  return Number(text);
}

/** The requested page of a list (RFC 7644, 3.4.2.4): an index below 1 counts as 1, a count below 0 as 0. */
export function pageOf(request: FastifyRequest): ScimQuery {
  const query = queryOf(request);
  return {
    filter: query.get('filter'),
    offset: Math.max(1, countIn(query.get('startIndex'), 1)) - 1,
    limit: Math.min(maxPageSize, Math.max(0, countIn(query.get('count'), defaultPageSize))),
  };
}

type Resource = Readonly<Record<string, unknown>>;

/** The names of attributes in a parameter, without the schema that they may begin with. */
function namesIn(text: string | null): string[] {
  return (text ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^urn:.*:/, ''));
}

function isRecord(value: unknown): value is Resource {
  return typeof value === 'object' && value !== null;
}

/** The members of a value that `keeps` accepts by their path in lower case; whole where it accepts the path of the value. */
function selected(value: Resource, prefix: string, keeps: (path: string) => boolean | 'in part'): Resource {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
      const kept = keeps(prefix + key.toLowerCase());
      if (kept === false) return [];
      const partOf = (whole: unknown): unknown =>
        isRecord(whole) ? selected(whole, `${prefix}${key.toLowerCase()}.`, (path) => keeps(path) === true) : whole;
      return [[key, kept === true ? member : Array.isArray(member) ? member.map(partOf) : partOf(member)]];
    }),
  );
}

/** A function that takes what `attributes` asks for, or leaves out `excludedAttributes` (RFC 7644, 3.9); `schemas` and `id` always stay. */
export function attributesSelector(request: FastifyRequest): (resource: object) => object {
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
}

/** Which parts of groups a request asks for, by `attributes` or `excludedAttributes`. */
export function groupViewOf(request: FastifyRequest): GroupView {
  const query = queryOf(request);
  const attributes = query.get('attributes');
  return {
    includesMembers:
      attributes === null
        ? !namesIn(query.get('excludedAttributes')).includes('members')
        : namesIn(attributes).some((name) => name.startsWith('members')),
  };
}

/** The id of a user or group in the path of a request. @throws ScimError 404 for text that is none */
export function requireResourceId(type: string, { params }: FastifyRequest): number {
  const { id = '' } = params as { id?: string };
  const resourceId = parseResourceId(id);
  if (resourceId === undefined) throw notFoundResource(type, id);
  return resourceId;
}

/** The caller of the changes that an identity provider makes through SCIM. */
export const scimCaller: Caller = { id: systemCaller.id, name: 'SCIM', grants: [] };

/** An operation of a PATCH. What a path or a value may be is for the resource to say. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path?: unknown;
  readonly value?: unknown;
}

/** The kind of an operation, whatever its case. @throws ScimError 400 */
function operationOf({ op, path, value }: Readonly<Record<string, unknown>>): PatchOperation {
  const kind = typeof op === 'string' ? op.toLowerCase() : '';
  if (kind !== 'add' && kind !== 'replace' && kind !== 'remove')
    throw new ScimError(400, 'op must be add, replace or remove.', 'invalidSyntax');
  return { op: kind, path, value };
}

/** The operations of the body of a PATCH (RFC 7644, 3.5.2). @throws ScimError 400 */
export function parsePatchOperations(body: unknown): readonly PatchOperation[] {
  const operations = isJsonObject(body) ? (body['Operations'] ?? body['operations']) : undefined;
  if (!Array.isArray(operations) || operations.length === 0 || !operations.every(isJsonObject))
    throw new ScimError(400, 'The body must have a list of Operations.', 'invalidSyntax');
  return operations.map(operationOf);
}
