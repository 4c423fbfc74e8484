import type { ReplyOf, SetProtection, RequestOf } from '@bunting/contracts';
import { onlyRow, type Tx } from '@bunting/database';
import type { SegmentPlace } from '../changes/protected-edit.ts';

/** SQL: the protected environments that are connected to a project. */
export const selectProtectedEnvironments = (project: string): string => `
  select environment from protected_environment protection where project = ${project} and is_protected and exists (
    select from project_environment connection
    where connection.project = protection.project and connection.environment = protection.environment)`;

/** The protected environments in which active features use the segment `$1`: each is left at its first such feature. */
const selectProtectedUses = `
  select project, environment from protected_environment used
  where environment in (${selectProtectedEnvironments('used.project')}) and exists (
    select from feature f
    where f.project = used.project and f.segment_ids @> array[$1::integer] and f.segment_ids <> '{}' and f.archived_at is null
      and jsonb_path_exists(f.environments -> used.environment, '$.strategies[*].segments[*] ? (@ == $id)',
        jsonb_build_object('id', $1::integer)))
  order by project, environment`;

/**
 * Stores the protection unless a newer version is stored, and returns the stored one. The entity manager cannot compare versions in an
 * upsert.
 */
const upsertIfNewer = `
  insert into protected_environment (project, environment, is_protected, version) values ($1, $2, $3, $4)
  on conflict (project, environment) do update set
    is_protected = case when protected_environment.version < excluded.version then excluded.is_protected else protected_environment.is_protected end,
    version = greatest(protected_environment.version, excluded.version)
  returning is_protected as "isProtected", version`;

/** The copy of which environments of projects require change requests; the change requests service decides and reports it. */
export const protectionCopyRepository = ({ query }: Tx) => ({
  /** The protected environments that are connected to a project. */
  protectedEnvironmentsOf: async (project: string): Promise<string[]> =>
    (await query<{ environment: string }>(selectProtectedEnvironments('$1'), [project])).map(
      ({ environment }) => environment,
    ),
  /** The protected environments in which active features use a segment. */
  protectedUsesOf: (segment: number): Promise<SegmentPlace[]> => query<SegmentPlace>(selectProtectedUses, [segment]),
  /** Stores the protection of an environment, unless a newer version is stored already; returns what is stored then. */
  setIfNewer: async ({
    project,
    environment,
    isProtected,
    version,
  }: RequestOf<typeof SetProtection>['body']): Promise<ReplyOf<typeof SetProtection>> => {
    const values = [project, environment, isProtected, version];
    return onlyRow(await query<ReplyOf<typeof SetProtection>>(upsertIfNewer, values), 'that stores a protection');
  },
});
