import type { Caller, Grant } from '@bunting/contracts';

export type TokenKind = 'admin' | 'client' | 'frontend' | 'user';

/** The predefined roles that rules speak of; each installation has them under these ids. */
export const predefinedRole = { admin: 1, editor: 2, viewer: 3, owner: 4, member: 5, reader: 6 } as const;

/** What one may do with a token of its own, whoever carries it. */
export interface TokenScope {
  readonly kind: Exclude<TokenKind, 'user'>;
  /** `*` stands for every one */
  readonly projects: readonly string[];
  readonly environment: string;
}

/** What a token gives that acts as itself and not as a user. */
export const grantsOfToken = ({ kind, projects, environment }: TokenScope): readonly Grant[] => {
  if (kind === 'admin') return [{ permission: 'ADMIN' }];
  const permission = kind === 'client' ? 'CLIENT' : 'FRONTEND';
  const where = environment === '*' ? {} : { environment };
  if (projects.includes('*')) return [{ permission, ...where }];
  return projects.map((project) => ({ permission, project, ...where }));
};

/** SDK tokens are for applications: the administration API is not theirs. */
export const mayAdminister = (kind: TokenKind): boolean => kind === 'admin' || kind === 'user';

/** Whether it is a user or a service account, who can have keys and favourites of their own; an admin token is nobody. */
export const hasAccount = ({ id }: Pick<Caller, 'id'>): boolean => id > 0;
