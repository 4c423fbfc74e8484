import type { PersonalDashboard } from '@bunting/contracts';
import type { ReadDatabase, Statement } from '@bunting/database';
import { type ProjectMembers, memberCountSql } from '../unit-of-work/project-members-sql.ts';
import { healthSql, joinMetrics } from './project-metrics-sql.ts';
import { readJson } from '../unit-of-work/read-json.ts';

/** The user of a dashboard and the projects on it. */
export interface PersonalDashboardScope {
  readonly id: number;
  /** the projects to show; null for all that are not hidden */
  readonly projects: readonly string[] | null;
  readonly hidden: readonly string[];
}

const personalDashboard: Statement = {
  name: 'personal-dashboard',
  text: `
    select json_build_object(
      'projects', coalesce((
        select json_agg(json_build_object('id', p.id, 'name', p.name, 'health', ${healthSql}, 'memberCount', ${memberCountSql},
          'featureCount', feature_counts.features) order by p.name collate "C", p.id)
        from project p ${joinMetrics('$4')}
        where p.archived_at is null and p.id <> all ($3::text[]) and ($2::text[] is null or p.id = any ($2::text[]))), '[]'),
      'flags', coalesce((
        select json_agg(json_build_object('name', name, 'type', type, 'project', project) order by created_at desc, name)
        from (
          select name, type, project, created_at from feature f
          where archived_at is null and project <> all ($3::text[])
            and (created_by_id = $1 or name in (select feature from feature_favorite where user_id = $1))
          order by created_at desc, name limit 100) as own), '[]'),
      'projectOwners', $5::json, 'admins', $6::json)::text as json`,
};

/** Reads the personal dashboard, as JSON, in one statement. */
export const personalDashboardReader = (database: ReadDatabase) => {
  return {
    read: (
      { id, projects, hidden }: PersonalDashboardScope,
      members: readonly ProjectMembers[],
      { projectOwners, admins }: Pick<PersonalDashboard, 'projectOwners' | 'admins'>,
    ): Promise<string> =>
      readJson(database, personalDashboard, [
        id,
        projects,
        hidden,
        ...[members, projectOwners, admins].map((value) => JSON.stringify(value)),
      ]),
  };
};
