import { type Environment, maxId, type StrategyProperties } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { ContextFieldReference, ProjectContext, SegmentReference } from './project-context.ts';

/**
 * The texts and numbers in a request that may be names of context fields or ids of segments. Of those objects, rules read only these, and
 * the ones that the stored feature and default strategies use.
 */
export interface PossibleReferences {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
}

/** For requests that name no context field and no segment. */
export const noReferences: PossibleReferences = { texts: [], numbers: [] };

interface ConnectedEnvironment extends Environment {
  readonly defaultStrategy: StrategyProperties | null;
}

/** The project context as `projectContextJson` reads it. */
export interface ProjectContextJson {
  readonly environments: readonly ConnectedEnvironment[];
  readonly defaultStickiness: string;
  readonly strategyTypes: readonly string[];
  readonly contextFields: readonly (ContextFieldReference & { readonly name: string })[];
  readonly segments: readonly SegmentReference[];
}

/** SQL: the values at a path of the project's default strategies. */
function inDefaultStrategies(path: string): string {
  return `
  select value #>> '{}' from project_environment connection,
    jsonb_path_query(connection.default_strategy, '${path}') as value
  where connection.project = p.id`;
}

/**
 * SQL: the context of the project `p`: its environments and all strategy types, and those context fields and segments that are
 * in the SQL arrays `texts` and `numbers` or in default strategies of the project.
 */
export function projectContextJson(texts: string, numbers: string): string {
  return `
  json_build_object(
    'environments', coalesce((
      select json_agg(json_build_object(
        'name', e.name, 'type', e.type, 'sortOrder', e.sort_order, 'enabled', e.enabled,
        'defaultStrategy', connection.default_strategy) order by e.sort_order, e.name)
      from project_environment connection join environment e on e.name = connection.environment
      where connection.project = p.id), '[]'),
    'defaultStickiness', p.default_stickiness,
    'strategyTypes', (select coalesce(json_agg(name), '[]') from strategy_type),
    'contextFields', (
      select coalesce(json_agg(json_build_object('name', name, 'legalValues', legal_values)), '[]') from context_field
      where name = any (${texts}) or name in (${inDefaultStrategies('$.constraints[*].contextName')})),
    'segments', (
      select coalesce(json_agg(json_build_object(
        'id', id, 'name', name, 'project', project, 'definition', md5(constraints::text || coalesce(
          (select context_name || encode(root, 'hex') from segment_list where segment = segment.id), '')))), '[]') from segment
      where id = any (${numbers}) or id::text in (${inDefaultStrategies('$.segments[*]')})))`;
}

/** The settings of the service that limit constraints. */
export type ConstraintSettings = Pick<ProjectContext, 'allowsRegex'>;

/** The project context for the rules, without segments of hidden projects. */
export function projectContextOf(
  json: ProjectContextJson,
  hidden: readonly string[],
  { allowsRegex }: ConstraintSettings,
): ProjectContext {
  return {
    allowsRegex,
    environments: json.environments.map(({ name, type, sortOrder, enabled }) => ({ name, type, sortOrder, enabled })),
    defaultStrategies: Object.fromEntries(
      json.environments.map(({ name, defaultStrategy }) => [name, defaultStrategy ?? undefined]),
    ),
    defaultStickiness: json.defaultStickiness,
    strategyTypes: new Set(json.strategyTypes),
    contextFields: new Map(json.contextFields.map(({ name, legalValues }) => [name, { legalValues }])),
    segments: new Map(
      json.segments
        .filter(({ project }) => project === null || !hidden.includes(project))
        .map((segment) => [segment.id, segment]),
    ),
  };
}

const projectContextOfProject = `
  select ${projectContextJson('$2::text[]', '$3::integer[]')} as "projectContext"
  from project p where p.id = $1 and p.archived_at is null`;

/**
 * Reads, with one statement in a transaction, the objects that rules need in addition to features.
 * @param hidden the projects that the caller may not see
 */
export function projectContextReader({ query }: Tx, hidden: readonly string[], settings: ConstraintSettings) {
  return {
    /** The context of a project; undefined if the project does not exist or is archived. */
    ofProject: async (project: string, { texts, numbers }: PossibleReferences): Promise<ProjectContext | undefined> => {
      const [row] = await query<{ projectContext: ProjectContextJson }>(projectContextOfProject, [
        project,
        texts,
        numbers,
      ]);
      return row === undefined ? undefined : projectContextOf(row.projectContext, hidden, settings);
    },
  };
}

/** The maximum length of texts that are looked up as names, in UTF-16 code units. */
const maxLength = 255;

/** All texts and numbers of a request that may be names or ids, at any depth: a JSON Patch may contain them anywhere. */
export function possibleReferencesIn(request: unknown): PossibleReferences {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const pending: unknown[] = [request];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string' && value.length <= maxLength) texts.add(value);
    else if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= maxId) numbers.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) pending.push(member);
  }
  return { texts: [...texts], numbers: [...numbers] };
}
