import {
  type Environment,
  type GetProjectActivity,
  projectNotFound,
  type ProjectsQuery,
  type ReplyOf,
} from '@bunting/contracts';
import { onlyRow, type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { orNull, withoutNulls } from '../unit-of-work/json-sql.ts';
import { memberCountSql, ownersSql, type ProjectMembers } from '../unit-of-work/project-members-sql.ts';
import { healthSql, joinMetrics, lastUsageAtSql } from '../insights/project-metrics-sql.ts';
import { type NewFeatureContext, newFeatureContext } from './project-repository.ts';
import { readJson } from '../unit-of-work/read-json.ts';

const projects: Statement = {
  name: 'projects',
  text: `
    select json_build_object('version', 1, 'projects', coalesce(json_agg(${withoutNulls(
      `'id': p.id, 'name': p.name, 'description': p.description, 'mode': p.mode`,
      `'defaultStickiness': p.default_stickiness, 'featureCount': feature_counts.features`,
      `'health': ${healthSql}`,
      `'favorite': exists (select from project_favorite where project = p.id and user_id = $1)`,
      `'memberCount': ${memberCountSql}, 'owners': ${ownersSql}`,
      `'createdAt': ${timestampSql('p.created_at')}, 'archivedAt': ${orNull(timestampSql('p.archived_at'))}`,
      `'lastReportedFlagUsage': ${orNull(lastUsageAtSql)}, 'lastUpdatedAt': ${orNull(timestampSql('last_event."lastEventAt"'))}`,
    )}
      order by p.name collate "C", p.id), '[]'))::text as json
    from project p
    ${joinMetrics('$3')}
    left join json_to_recordset($4::json) as last_event (id text, "lastEventAt" timestamptz) on last_event.id = p.id
    where (p.archived_at is not null) = $5::boolean and p.id <> all ($2::text[])`,
};

const environmentsOfProject: Statement = {
  name: 'environments-of-project',
  text: `
    select coalesce((
      select json_agg(json_build_object('name', e.name, 'type', e.type, 'sortOrder', e.sort_order, 'enabled', e.enabled,
        'requiredApprovals', e.required_approvals) order by e.sort_order, e.name)
      from project_environment connection join environment e on e.name = connection.environment
      where connection.project = p.id), '[]') as environments
    from project p where p.id = $1 and p.archived_at is null`,
};

const idTaken: Statement = {
  name: 'project-id',
  text: `
    select from project where id = $1 union all
    select from deleted_private_project where id = $1 and not $2::boolean`,
};

export interface ProjectEnvironment extends Environment {
  readonly requiredApprovals: number | null;
}

/** Data about projects from other services. */
export interface ProjectDataFromOtherServices {
  /** from the gateway */
  readonly members: readonly ProjectMembers[];
  /** when the newest event of each project happened, from the event log */
  readonly lastEvents: readonly Pick<ReplyOf<typeof GetProjectActivity>['projects'][number], 'id' | 'lastEventAt'>[];
}

/** Reads projects outside of transactions. */
export const projectReader = (database: ReadDatabase) => ({
  /** The active or archived projects that a user may see, as JSON. */
  all: async (
    { archived = false }: ProjectsQuery,
    { userId, hidden }: { readonly userId: number; readonly hidden: readonly string[] },
    { members, lastEvents }: ProjectDataFromOtherServices,
  ): Promise<string> => {
    const values = [userId, hidden, JSON.stringify(members), JSON.stringify(lastEvents), archived];
    return readJson(database, projects, values);
  },
  /** @throws Refusal `NotFoundError` for a project that does not exist or is archived. */
  environmentsOf: async (project: string): Promise<ProjectEnvironment[]> => {
    const [row] = await database.read<{ environments: ProjectEnvironment[] }>(environmentsOfProject, [project]);
    if (row === undefined) throw projectNotFound(project);
    return row.environments;
  },
  /** As in the repository, but outside of transactions: another request may take the name before the caller does. */
  newFeatureContext: async (project: string, name: string): Promise<NewFeatureContext> => {
    const statement = { name: 'new-feature-context', text: newFeatureContext };
    return onlyRow(await database.read<NewFeatureContext>(statement, [project, name]), statement);
  },
  /** @param reservedIsFree whether the reserved id of a deleted private project counts as free */
  isIdTaken: async (id: string, reservedIsFree: boolean): Promise<boolean> =>
    (await database.read(idTaken, [id, reservedIsFree])).length > 0,
});
