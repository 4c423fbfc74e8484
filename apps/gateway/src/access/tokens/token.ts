import type { EventContent } from '@bunting/contracts';
import {
  anyScope,
  type ApiToken,
  type ApiTokenAction,
  apiTokenPermission,
  type Caller,
  type CreateApiTokenBody,
  type Grant,
  invalidProperty,
  may,
  maySee,
  noAccess,
  refusal,
} from '@bunting/contracts';

/** Stands for all projects, or for all environments. */
export const wildcard = '*';

export type TokenKind = 'admin' | 'client' | 'frontend' | 'user';

/** The access of a token without a user: its type, its projects and its environment. */
export interface TokenScope {
  readonly kind: Exclude<TokenKind, 'user'>;
  /** `*` for all projects */
  readonly projects: readonly string[];
  readonly environment: string;
}

/** The grants of a token that belongs to no user. */
export function grantsOfToken({ kind, projects, environment }: TokenScope): readonly Grant[] {
  if (kind === 'admin') return [{ permission: 'ADMIN' }];
  const permission = kind === 'client' ? 'CLIENT' : 'FRONTEND';
  const scope = environment === wildcard ? {} : { environment };
  if (projects.includes(wildcard)) return [{ permission, ...scope }];
  return projects.map((project) => ({ permission, project, ...scope }));
}

/** Whether tokens of a kind may call the Admin API; SDK tokens may not. */
export function mayCallAdminApi(kind: TokenKind): boolean {
  return kind === 'admin' || kind === 'user';
}

/** Maximum number of API tokens. */
export const maxApiTokens = 2_000;

export type ApiTokenKind = TokenScope['kind'];

export const apiTokenKinds = ['admin', 'client', 'frontend'] as const;

/** The kinds of tokens that a project can have. */
export const sdkTokenKinds = ['client', 'frontend'] as const;

export interface NewToken extends TokenScope {
  readonly name: string;
  readonly expiresAt: Date | null;
}

/** The projects and environments that exist. */
export interface TokenTargets {
  readonly projects: readonly string[];
  readonly environments: readonly string[];
}

/** The kind of token by the type in a request. */
const kindsByType: Readonly<Record<string, ApiTokenKind>> = {
  admin: 'admin',
  client: 'client',
  backend: 'client',
  frontend: 'frontend',
};

function requestedKind({ type }: CreateApiTokenBody): ApiTokenKind | undefined {
  const requested = type.toLowerCase();
  return Object.hasOwn(kindsByType, requested) ? kindsByType[requested] : undefined;
}

function kindOf(body: CreateApiTokenBody): ApiTokenKind {
  const kind = requestedKind(body);
  if (kind === undefined) throw invalidProperty('The type of a token must be client, frontend or admin', '/body/type');
  return kind;
}

function requestedProjects({ project, projects }: CreateApiTokenBody): readonly string[] {
  const requested = projects ?? (project === undefined ? [wildcard] : [project]);
  if (requested.length === 0) throw invalidProperty('A token must be for at least one project', '/body/projects');
  return requested.includes(wildcard) ? [wildcard] : [...new Set(requested)];
}

/** The projects that a token names; empty for a token for all projects. */
export function namedProjects({ projects }: Pick<NewToken, 'projects'>): readonly string[] {
  return projects.includes(wildcard) ? [] : projects;
}

/** Whether a token is for the project and for no other one. */
export function belongsToProject({ projects }: Pick<NewToken, 'projects'>, projectId: string): boolean {
  return projects.every((project) => project === projectId);
}

/** The expiry date of a token in a request; null for none. As in Unleash, that of an API token may have passed. */
export function optionalExpiry(expiresAt: string | null | undefined): Date | null {
  return expiresAt === null || expiresAt === undefined ? null : new Date(expiresAt);
}

/**
 * A token with an expiry date must not create access beyond it: neither a further PAT of its user nor an admin token may expire later.
 * @param callerExpiresAt when the token of the request expires; null for never
 * @param expiresAt when the token that is created or changed expires; null for never
 * @throws Refusal `OperationDeniedError` when that is later than for the token of the request
 */
export function requireWithinLifetime(callerExpiresAt: Date | null, expiresAt: Date | null): void {
  if (callerExpiresAt === null || (expiresAt !== null && expiresAt <= callerExpiresAt)) return;
  throw refusal(
    'OperationDeniedError',
    `The key of this request expires at ${callerExpiresAt.toISOString()}, and so must a key that it makes: set an expiresAt that is not later.`,
  );
}

/**
 * Parses a new token: trims its name and adds defaults. The texts of refusals are Unleash's.
 * @throws Refusal 400 for an invalid name, kind or scope
 */
export function parseNewToken(body: CreateApiTokenBody, caller: Caller, targets: TokenTargets): NewToken {
  if (body.tokenName !== undefined && body.username !== undefined)
    throw invalidProperty('username is the former name of tokenName: send one of them, not both', '/body/username');
  const name = (body.tokenName ?? body.username ?? '').trim();
  if (name === '') throw invalidProperty('A token must have a name', '/body/tokenName');
  const kind = kindOf(body);
  const projects = requestedProjects(body);
  const environment = body.environment ?? (kind === 'admin' ? wildcard : 'development');
  if (kind === 'admin') {
    if (projects[0] !== wildcard)
      throw invalidProperty('Admin token cannot be scoped to single project', '/body/projects');
    if (environment !== wildcard)
      throw invalidProperty('Admin token cannot be scoped to single environment', '/body/environment');
  } else {
    const kindLabel = kind === 'client' ? 'Client' : 'Frontend';
    if (environment === wildcard)
      throw invalidProperty(`${kindLabel} token cannot be scoped to all environments`, '/body/environment');
    if (!targets.environments.includes(environment))
      throw invalidProperty(`Environment=${environment} does not exist`, '/body/environment');
    for (const project of projects) {
      if (project === wildcard || (targets.projects.includes(project) && maySee(caller, project))) continue;
      throw invalidProperty(`Project=${project} does not exist`, '/body/projects');
    }
  }
  return { name, kind, projects, environment, expiresAt: optionalExpiry(body.expiresAt) };
}

/** The project that a token is created in, and the environments that exist. */
export interface ProjectTokenTarget {
  readonly project: string;
  readonly environments: readonly string[];
}

/**
 * Parses a new token of a project, which is for that project only.
 * @throws Refusal 400 as `parseNewToken`, for another project and for an admin token; `NoAccessError` in an environment without permission
 */
export function parseNewProjectToken(
  body: CreateApiTokenBody,
  caller: Caller,
  { project, environments }: ProjectTokenTarget,
): NewToken {
  const requested = [...(body.projects ?? []), ...(body.project === undefined ? [] : [body.project])];
  if (requested.some((name) => name !== project))
    throw invalidProperty(`A token of the project ${project} can be for this project only`, '/body/projects');
  if (requestedKind(body) === 'admin')
    throw invalidProperty('A token of a project cannot be an admin token', '/body/type');
  const token = parseNewToken({ ...body, projects: [project] }, caller, { environments, projects: [project] });
  const { environment } = token;
  if (!may(caller, ['CREATE_PROJECT_API_TOKEN'], { project, environment }))
    throw noAccess(['CREATE_PROJECT_API_TOKEN'], environment);
  return token;
}

/** The kinds of tokens for which the caller has the permission of an action. */
export function permittedKinds(caller: Caller, action: ApiTokenAction): ApiTokenKind[] {
  return apiTokenKinds.filter((kind) => may(caller, [apiTokenPermission(action, kind)], anyScope));
}

/** @throws Refusal `NoAccessError` for a kind of token for which the caller lacks the permission of the action */
export function requireMayActOn(caller: Caller, action: ApiTokenAction, kind: ApiTokenKind): void {
  if (!permittedKinds(caller, action).includes(kind)) throw noAccess([apiTokenPermission(action, kind)]);
}

/** The properties of an API token in events; its secret is none of them. */
export type ApiTokenInEvents = Pick<
  ApiToken,
  'tokenName' | 'type' | 'environment' | 'project' | 'projects' | 'createdAt' | 'expiresAt'
>;

function eventData({ tokenName, type, environment, project, projects, createdAt, expiresAt }: ApiTokenInEvents) {
  return {
    tokenName,
    type,
    environment,
    project,
    projects,
    createdAt,
    expiresAt,
  };
}

/** A token of the settings, which is named after its kind and never expires. */
export function initialTokenInEvents({ kind, projects, environment }: TokenScope, createdAt: string): ApiTokenInEvents {
  return {
    tokenName: kind,
    type: kind,
    environment,
    project: projects[0] ?? wildcard,
    projects: [...projects],
    createdAt,
    expiresAt: null,
  };
}

/** The event of a token. It belongs to the project and the environment of the token, where there is exactly one. */
export function tokenEvent(
  type: 'api-token-created' | 'api-token-updated' | 'api-token-deleted',
  { data, preData }: { readonly data?: ApiTokenInEvents; readonly preData?: ApiTokenInEvents },
): EventContent {
  const { projects = [], environment = wildcard } = data ?? preData ?? {};
  const [project = wildcard, ...more] = projects;
  return {
    type,
    project: project === wildcard || more.length > 0 ? null : project,
    environment: environment === wildcard ? null : environment,
    data: data === undefined ? null : eventData(data),
    preData: preData === undefined ? null : eventData(preData),
  };
}
