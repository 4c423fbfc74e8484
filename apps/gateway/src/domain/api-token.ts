import { type Caller, type CreateApiTokenBody, maySee, noAccess, may, type Permission } from '@bunting/contracts';
import type { TokenScope } from './token-scope.ts';
import { badRequest } from './refusals.ts';

/** How many API tokens there can be. */
export const maxApiTokens = 2_000;

export type ApiTokenKind = TokenScope['kind'];

export interface NewToken extends TokenScope {
  readonly name: string;
  readonly expiresAt: Date | null;
}

/** What there is that a token could give. */
export interface TokenTargets {
  readonly projects: readonly string[];
  readonly environments: readonly string[];
}

const kinds: Readonly<Record<string, ApiTokenKind>> = {
  admin: 'admin',
  client: 'client',
  backend: 'client',
  frontend: 'frontend',
};

const everywhere = '*';

const kindOf = ({ type }: CreateApiTokenBody): ApiTokenKind => {
  const given = type.toLowerCase();
  const kind = Object.hasOwn(kinds, given) ? kinds[given] : undefined;
  if (kind === undefined) throw badRequest('The type of a token must be client, frontend or admin', '/body/type');
  return kind;
};

const requestedProjects = ({ project, projects }: CreateApiTokenBody): readonly string[] => {
  const wanted = projects ?? (project === undefined ? [everywhere] : [project]);
  if (wanted.length === 0) throw badRequest('A token must give at least one project', '/body/projects');
  return wanted.includes(everywhere) ? [everywhere] : [...new Set(wanted)];
};

/** The projects that a token names; none for one that is for all of them. */
export const namedProjects = ({ projects }: Pick<NewToken, 'projects'>): readonly string[] =>
  projects.includes(everywhere) ? [] : projects;

/** @throws Refusal 400 for a moment that has passed. */
export const futureExpiry = (expiresAt: string | null | undefined, now: Date): Date | null => {
  if (expiresAt === null || expiresAt === undefined) return null;
  const moment = new Date(expiresAt);
  if (!(moment > now)) throw badRequest('The expiry date should be in future', '/body/expiresAt');
  return moment;
};

/**
 * A token as it shall be made.
 * @throws Refusal 400 with Unleash's words (admin-api.md 6.17) for what a token cannot be.
 */
export const newToken = (body: CreateApiTokenBody, caller: Caller, places: TokenTargets, now: Date): NewToken => {
  const name = (body.tokenName ?? body.username ?? '').trim();
  if (name === '') throw badRequest('A token must have a name', '/body/tokenName');
  const kind = kindOf(body);
  const projects = requestedProjects(body);
  const environment = body.environment ?? (kind === 'admin' ? everywhere : 'development');
  if (kind === 'admin') {
    if (projects[0] !== everywhere)
      throw badRequest('Admin token cannot be scoped to single project', '/body/projects');
    if (environment !== everywhere)
      throw badRequest('Admin token cannot be scoped to single environment', '/body/environment');
  } else {
    const called = kind === 'client' ? 'Client' : 'Frontend';
    if (environment === everywhere)
      throw badRequest(`${called} token cannot be scoped to all environments`, '/body/environment');
    if (!places.environments.includes(environment))
      throw badRequest(`Environment=${environment} does not exist`, '/body/environment');
    for (const project of projects) {
      if (project === everywhere || (places.projects.includes(project) && maySee(caller, project))) continue;
      throw badRequest(`Project=${project} does not exist`, '/body/projects');
    }
  }
  return { name, kind, projects, environment, expiresAt: futureExpiry(body.expiresAt, now) };
};

type TokenAction = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

const permissionFor = (doing: TokenAction, kind: ApiTokenKind): Permission =>
  kind === 'admin' ? 'ADMIN' : (`${doing}_${kind === 'client' ? 'CLIENT' : 'FRONTEND'}_API_TOKEN` as const);

/** The kinds of tokens that the caller may do this with. */
export const permittedKinds = (caller: Caller, doing: TokenAction): ApiTokenKind[] =>
  (['admin', 'client', 'frontend'] as const).filter((kind) => may(caller, [permissionFor(doing, kind)]));

/** @throws Refusal `NoAccessError` for a kind of tokens that the caller may not make. */
export const requireMayCreate = (caller: Caller, kind: ApiTokenKind): void => {
  if (!permittedKinds(caller, 'CREATE').includes(kind)) throw noAccess([permissionFor('CREATE', kind)]);
};
