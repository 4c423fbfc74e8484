import type { CreateStrategy, Environment } from '@bunting/contracts';
import type { ContextField, SegmentReference, StrategyType, Surroundings } from '../../domain/surroundings.ts';

/** What a request speaks of, by name and by id: of all that there is, a rule can only ask for that. */
export interface Mentions {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
}

interface ConnectedEnvironment extends Environment {
  readonly defaultStrategy: CreateStrategy | null;
}

/** What PostgreSQL makes of the surroundings. */
export interface SurroundingsJson {
  readonly environments: readonly ConnectedEnvironment[];
  readonly defaultStickiness: string;
  readonly strategyTypes: readonly (StrategyType & { readonly name: string })[];
  readonly contextFields: readonly (ContextField & { readonly name: string })[];
  readonly segments: readonly SegmentReference[];
}

/** SQL: what the default strategies of the project speak of. */
const ofDefaults = (path: string): string => `
  select value #>> '{}' from project_environment connected,
    jsonb_path_query(connected.default_strategy, '${path}') as value
  where connected.project = p.id`;

/**
 * SQL: the surroundings of the project that is the row `p`, as far as texts and numbers (SQL arrays) and the project's
 * default strategies speak of them.
 */
export const surroundingsJson = (texts: string, numbers: string): string => `
  json_build_object(
    'environments', coalesce((
      select json_agg(json_build_object(
        'name', e.name, 'type', e.type, 'sortOrder', e.sort_order, 'enabled', e.enabled,
        'defaultStrategy', connected.default_strategy) order by e.sort_order, e.name)
      from project_environment connected join environment e on e.name = connected.environment
      where connected.project = p.id), '[]'),
    'defaultStickiness', p.default_stickiness,
    'strategyTypes', (select coalesce(json_agg(json_build_object('name', name, 'deprecated', deprecated)), '[]') from strategy_type),
    'contextFields', (
      select coalesce(json_agg(json_build_object('name', name, 'legalValues', legal_values)), '[]') from context_field
      where name = any (${texts}) or name in (${ofDefaults('$.constraints[*].contextName')})),
    'segments', (
      select coalesce(json_agg(json_build_object('id', id, 'name', name, 'project', project)), '[]') from segment
      where id = any (${numbers}) or id::text in (${ofDefaults('$.segments[*]')})))`;

/** The surroundings as the rules know them; to who asks, segments of hidden projects are as if they did not exist. */
export const surroundingsOf = (json: SurroundingsJson, hidden: readonly string[]): Surroundings => ({
  environments: json.environments.map(({ name, type, sortOrder, enabled }) => ({ name, type, sortOrder, enabled })),
  defaultStrategies: Object.fromEntries(
    json.environments.map(({ name, defaultStrategy }) => [name, defaultStrategy ?? undefined]),
  ),
  defaultStickiness: json.defaultStickiness,
  strategyTypes: new Map(json.strategyTypes.map(({ name, deprecated }) => [name, { deprecated }])),
  contextFields: new Map(json.contextFields.map(({ name, legalValues }) => [name, { legalValues }])),
  segments: new Map(
    json.segments
      .filter(({ project }) => project === null || !hidden.includes(project))
      .map((segment) => [segment.id, segment]),
  ),
});
