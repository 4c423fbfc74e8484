import { type Caller, type Grant, refusal } from '@bunting/contracts';

export type TokenKind = 'admin' | 'client' | 'frontend' | 'user';

/** Ids of the predefined roles, the same in every installation. */
export const predefinedRole = { admin: 1, editor: 2, viewer: 3, owner: 4, member: 5, reader: 6 } as const;

/** The access of a token without a user: its type, its projects and its environment. */
export interface TokenScope {
  readonly kind: Exclude<TokenKind, 'user'>;
  /** `*` for all projects */
  readonly projects: readonly string[];
  readonly environment: string;
}

/** The grants of a token that belongs to no user. */
export const grantsOfToken = ({ kind, projects, environment }: TokenScope): readonly Grant[] => {
  if (kind === 'admin') return [{ permission: 'ADMIN' }];
  const permission = kind === 'client' ? 'CLIENT' : 'FRONTEND';
  const where = environment === '*' ? {} : { environment };
  if (projects.includes('*')) return [{ permission, ...where }];
  return projects.map((project) => ({ permission, project, ...where }));
};

/** Whether tokens of a kind may call the Admin API; SDK tokens may not. */
export const mayCallAdminApi = (kind: TokenKind): boolean => kind === 'admin' || kind === 'user';

/** Whether the caller is a user or a service account; an admin token has no account, and so no PATs and no favourites. */
export const hasAccount = ({ id }: Pick<Caller, 'id'>): boolean => id > 0;

/** @throws Refusal 403 for a caller without an account */
export const requireAccount = (caller: Caller): void => {
  if (!hasAccount(caller)) throw refusal('ForbiddenError', 'PATs require an authenticated user.');
};
