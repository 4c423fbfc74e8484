import type { ReplyOf, SetProtection, RequestOf } from '@bunting/contracts';
import { onlyRow, type Tx } from '@bunting/database';

/** SQL: the protected environments that are connected to a project. */
export const protectedOfProject = (project: string): string => `
  select environment from protected_environment protection where project = ${project} and is_protected and exists (
    select from project_environment connection
    where connection.project = protection.project and connection.environment = protection.environment)`;

/**
 * Stores the protection unless a newer version is stored, and returns the stored one. The entity manager cannot compare versions in an
 * upsert.
 */
const set = `
  insert into protected_environment (project, environment, is_protected, version) values ($1, $2, $3, $4)
  on conflict (project, environment) do update set
    is_protected = case when protected_environment.version < excluded.version then excluded.is_protected else protected_environment.is_protected end,
    version = greatest(protected_environment.version, excluded.version)
  returning is_protected as "isProtected", version`;

/** The environments of projects that require change requests, as reported by the change requests service. */
export const protectedEnvironmentRepository = ({ query }: Tx) => ({
  /** The protected environments that are connected to a project. */
  protectedOf: async (project: string): Promise<string[]> =>
    (await query<{ environment: string }>(protectedOfProject('$1'), [project])).map(({ environment }) => environment),
  /** Stores the protection of an environment, unless a newer version is stored already; returns what is stored then. */
  set: async ({
    project,
    environment,
    isProtected,
    version,
  }: RequestOf<typeof SetProtection>['body']): Promise<ReplyOf<typeof SetProtection>> => {
    const values = [project, environment, isProtected, version];
    return onlyRow(await query<ReplyOf<typeof SetProtection>>(set, values), 'that stores a protection');
  },
});
