import type { Grant, Permission } from '@bunting/contracts';

export type RootRole = 'admin' | 'editor' | 'viewer';
export type TokenKind = 'admin' | 'client' | 'frontend' | 'user';

/** What one may do with a token of its own, whoever carries it. */
export interface TokenScope {
  readonly kind: Exclude<TokenKind, 'user'>;
  /** `*` stands for every one */
  readonly projects: readonly string[];
  readonly environment: string;
}

const catalogue: readonly Permission[] = [
  'CREATE_PROJECT',
  'CREATE_CONTEXT_FIELD',
  'UPDATE_CONTEXT_FIELD',
  'DELETE_CONTEXT_FIELD',
  'CREATE_SEGMENT',
  'UPDATE_SEGMENT',
  'DELETE_SEGMENT',
  'CREATE_STRATEGY',
  'UPDATE_STRATEGY',
  'DELETE_STRATEGY',
  'CREATE_TAG_TYPE',
  'UPDATE_TAG_TYPE',
  'DELETE_TAG_TYPE',
  'CREATE_ADDON',
  'UPDATE_ADDON',
  'DELETE_ADDON',
  'UPDATE_APPLICATION',
  'READ_CLIENT_API_TOKEN',
  'READ_FRONTEND_API_TOKEN',
];

const ownProject: readonly Permission[] = [
  'CREATE_FEATURE',
  'UPDATE_FEATURE',
  'DELETE_FEATURE',
  'MOVE_FEATURE_TOGGLE',
  'UPDATE_FEATURE_DEPENDENCY',
  'UPDATE_FEATURE_VARIANTS',
  'UPDATE_PROJECT',
  'DELETE_PROJECT',
  'READ_PROJECT_API_TOKEN',
  'CREATE_PROJECT_API_TOKEN',
  'DELETE_PROJECT_API_TOKEN',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_STRATEGY',
  'DELETE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
  'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
];

const rootRoles: { readonly [R in RootRole]: readonly Grant[] } = {
  admin: [{ permission: 'ADMIN' }],
  editor: [
    ...catalogue.map((permission) => ({ permission })),
    ...ownProject.map((permission) => ({ permission, project: 'default' })),
  ],
  viewer: [],
};

/** What a root role gives (admin-api.md 7.5): an Editor works in the project `default` as its owner does. */
export const grantsOfRole = (role: RootRole): readonly Grant[] => rootRoles[role];

/** What a token gives that acts as itself and not as a user. */
export const grantsOfToken = ({ kind, projects, environment }: TokenScope): readonly Grant[] => {
  if (kind === 'admin') return rootRoles.admin;
  const permission = kind === 'client' ? 'CLIENT' : 'FRONTEND';
  const where = environment === '*' ? {} : { environment };
  if (projects.includes('*')) return [{ permission, ...where }];
  return projects.map((project) => ({ permission, project, ...where }));
};

/** SDK tokens are for applications: the administration API is not theirs. */
export const mayAdminister = (kind: TokenKind): boolean => kind === 'admin' || kind === 'user';
