import type { Grant } from '@bunting/contracts';

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
export const grantsOfToken = ({ kind, projects, environment }: TokenScope): readonly Grant[] => {
  if (kind === 'admin') return [{ permission: 'ADMIN' }];
  const permission = kind === 'client' ? 'CLIENT' : 'FRONTEND';
  const scope = environment === wildcard ? {} : { environment };
  if (projects.includes(wildcard)) return [{ permission, ...scope }];
  return projects.map((project) => ({ permission, project, ...scope }));
};

/** Whether tokens of a kind may call the Admin API; SDK tokens may not. */
export const mayCallAdminApi = (kind: TokenKind): boolean => kind === 'admin' || kind === 'user';
