import { createHash } from 'node:crypto';
import type { Caller } from '@bunting/contracts';
import type { Principal } from '@bunting/http';

/** A token that the origin calls valid, and what it is for. */
export interface EdgeToken {
  readonly token: string;
  readonly type: 'client' | 'frontend';
  readonly environment: string;
  /** `['*']` for all */
  readonly projects: readonly string[];
}

/** The key under which a token is looked up: a lookup by the token itself would take longer for a longer common prefix. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * What a token says about itself, as `<projects>:<environment>.<secret>`; undefined for one of another form. `[]` stands for several
 * projects, which the token does not name.
 */
export function parseToken(token: string): { readonly project: string; readonly environment: string } | undefined {
  const [, project, environment] = /^([^:]+):([^.]+)\.(.+)$/.exec(token) ?? [];
  return project === undefined || environment === undefined ? undefined : { project, environment };
}

/** The id of the caller of every token; they are told apart by the ids of their tokens. */
const sdkCallerId = -1;

/** The caller that a token authenticates. */
export function principalOf({ token, type, environment, projects }: EdgeToken): Principal {
  const permission = type === 'client' ? 'CLIENT' : 'FRONTEND';
  const grants: Caller['grants'] = projects.includes('*')
    ? [{ permission, environment }]
    : projects.map((project) => ({ permission, project, environment }));
  return {
    caller: { id: sdkCallerId, name: `${type} token`, tokenId: digestOf(token).slice(0, 22), grants },
    mayCallAdminApi: false,
    isPublic: type === 'frontend',
    expiresInMs: Number.POSITIVE_INFINITY,
  };
}
