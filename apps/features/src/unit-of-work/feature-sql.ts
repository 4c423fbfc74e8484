import { type FeatureFieldName, featureFieldsFor, lifecycleStages } from '@bunting/contracts';
import { timestampSql } from '@bunting/database';
import { describedMembers } from './entities.ts';
import { variantsSortedByName, withoutNulls } from './sql.ts';

/**
 * SQL: whether a row of `feature` is active. `coalesce` prevents PostgreSQL from choosing the index of active features where others are
 * better. While its statistics are out of date, as after an import, it would scan that whole index for each feature.
 */
export function isActive(row: string): string {
  return `coalesce(${row}.archived_at, 'infinity') = 'infinity'`;
}

/** SQL to select from: the active features `child` that depend on the feature with a name. */
export function activeChildrenOf(name: string): string {
  return `feature child
  where child.parents @> array[${name}] and child.parents <> '{}' and ${isActive('child')}`;
}

/** SQL to select from: the active features `child` that depend on any of the features in an array of names, once for each such `parent`. */
export function activeChildrenOfAll(names: string): string {
  return `feature child, unnest(child.parents) as parent
  where child.parents && ${names} and child.parents <> '{}' and ${isActive('child')} and parent = any (${names})`;
}

/**
 * SQL: the lifecycle stage that a feature is in, as JSON: the highest that it has entered, or `initial` from its creation on. A feature
 * that is completed before its first metrics enters `pre-live` after `completed`, and stays completed.
 * @param row a row of `feature`
 */
export function currentStage(row: string): string {
  return `coalesce(
  ${lifecycleStages
    .toReversed()
    .map((stage) => `jsonb_path_query_first(${row}.lifecycle, '$[*] ? (@.stage == "${stage}")')`)
    .join(', ')},
  jsonb_build_object('stage', 'initial', 'enteredStageAt', ${timestampSql(`${row}.created_at`)}))`;
}

// PostgreSQL builds the JSON for clients and projections, so that a read is one round trip, however large the reply is. This file has the
// parts that those statements share; in each, `f` is a row of `feature`.

/** SQL: the creator of the feature. */
const createdBy = `json_build_object(
  'id', f.created_by_id, 'name', f.created_by_name, 'imageUrl', f.created_by_image_url)`;

/** SQL to join: `last_hour.yes` and `last_hour.no`, the counts of a row of `feature_seen` in the last sixty minutes. */
export function joinLastHour(seen: string): string {
  return `
  cross join lateral (
    select
      least(coalesce(sum(by_minute.yes), 0), 9007199254740991)::bigint as yes,
      least(coalesce(sum(by_minute.no), 0), 9007199254740991)::bigint as no
    from unnest(${seen}.minutes, ${seen}.yes_by_minute, ${seen}.no_by_minute) as by_minute (minute, yes, no)
    where by_minute.minute > floor(extract(epoch from now()) / 60) - 60) as last_hour`;
}

const environmentMembers = `
  'name', e.name, 'type', e.type, 'enabled', coalesce((settings -> 'enabled')::boolean, false), 'sortOrder', e.sort_order,
  'variantCount', coalesce(jsonb_array_length(settings -> 'variants'), 0), 'lastSeenAt', ${timestampSql('seen.last_seen_at')},
  'hasStrategies', coalesce(settings -> 'strategies' <> '[]', false),
  'hasEnabledStrategies', coalesce(settings -> 'strategies' @> '[{"disabled": false}]', false),
  'yes', last_hour.yes, 'no', last_hour.no`;

/**
 * SQL to join: `env.list`, the feature in each environment of its project; `env.enabled`, whether it is enabled in any of them;
 * `env.last_seen_at`.
 */
function environments(more = ''): string {
  return `
  cross join lateral (
    select
      json_agg(json_build_object(${environmentMembers}${more}) order by e.sort_order, e.name) as list,
      bool_or((settings -> 'enabled')::boolean) as enabled,
      max(seen.last_seen_at) as last_seen_at
    from project_environment connection
    join environment e on e.name = connection.environment
    left join feature_seen seen on seen.feature = f.name and seen.environment = e.name ${joinLastHour('seen')}
    cross join lateral (select f.environments -> e.name as settings) as in_environment
    where connection.project = f.project
  ) as env`;
}

function favorite(userId: string): string {
  return `exists (select from feature_favorite where feature = f.name and user_id = ${userId})`;
}

/** SQL: the members of all representations of a feature for clients and projections. */
const membersWith = (fields?: readonly FeatureFieldName[]): string => `
  ${describedMembers('f', fields)}, 'createdAt', ${timestampSql('f.created_at')}, 'createdBy', ${createdBy},
  'lastSeenAt', ${timestampSql('env.last_seen_at')}, 'tags', f.tags,
  'lifecycle', ${currentStage('f')}, 'environments', coalesce(env.list, '[]')`;

const members = membersWith();

const archivedAt = `'archivedAt', ${timestampSql('f.archived_at')}`;

const strategies = `, 'featureName', f.name, 'environment', e.name, 'strategies', coalesce(settings -> 'strategies', '[]')`;
const variants = `, 'variants', ${variantsSortedByName(`settings -> 'variants'`)}`;

function detailedFeature(withVariants: boolean): string {
  return `
  select json_build_object(${members},
    'archived', f.archived_at is not null, ${archivedAt},
    'enabled', coalesce(env.enabled, false),
    'favorite', ${favorite('requested.user_id')},
    'variants', '[]'::json,
    'strategies', '[]'::json,
    'children', coalesce((select json_agg(child.name order by child.name) from ${activeChildrenOf('f.name')}), '[]'),
    'dependencies', f.dependencies,
    'links', f.links,
    'collaborators', json_build_object('users', f.collaborators))::text as json, f.edit_version::text as tag
  from feature f ${environments(withVariants ? strategies + variants : strategies)}
  where f.name = requested.name and f.project = requested.project and f.archived_at is null`;
}

/**
 * A batch of features with all details, each for a user: `$1` names, `$2` projects, `$3` ids of the users. The lateral join with `limit 1`
 * makes PostgreSQL look up each feature by name, whatever its statistics say. Sub-selects hide the size of the batch from the planner, so
 * that one generic plan is reused.
 */
export function selectDetailedFeatures(withVariants: boolean): string {
  return `
  select requested.nth::integer, feature.json, feature.tag
  from unnest((select $1::text[]), (select $2::text[]), (select $3::integer[]))
    with ordinality as requested (name, project, user_id, nth)
  cross join lateral (${detailedFeature(withVariants)} limit 1) as feature`;
}

function inProject(condition: string): string {
  return `f.project = $1 and f.archived_at is null ${condition}`;
}

/**
 * The features of a project, for a user: `$1` project, `$2` id of the user.
 * @param condition a further condition, beginning with `and`
 * @param page `limit` and `offset`, in the order of names
 */
export function selectFeaturesOfProject(condition = '', page = ''): string {
  return `
  select json_build_object(
    'version', 2,
    'features', coalesce(json_agg(json_build_object(${members}, 'favorite', ${favorite('$2')}) order by f.name), '[]'))::text as json
  from ${page === '' ? 'feature' : `(select * from feature f where ${inProject(condition)} order by f.name ${page})`} f ${environments()}
  where ${page === '' ? inProject(condition) : 'true'}`;
}

/**
 * SQL: features with any of the tags `$3` (JSON documents; null for no condition) whose name begins with `$4` (in lower case).
 */
export const tagAndNamePrefixCondition = `
  and ($3::text[] is null or f.tags @> any ($3::text[]::jsonb[])) and starts_with(lower(f.name), $4)`;

/** The archived features, newest first: `$1` id of the user, `$2` project or null for all, `$3` hidden projects. */
export const selectArchivedFeatures = `
  select json_build_object(
    'version', 2,
    'features', coalesce(json_agg(json_build_object(${members}, ${archivedAt}, 'favorite', ${favorite('$1')})
      order by f.archived_at desc, f.name), '[]'))::text as json
  from feature f ${environments()}
  where f.archived_at is not null and ($2::text is null or f.project = $2) and f.project <> all ($3::text[])`;

/** SQL: how many elements a list of `strategy` has; null for none. */
function countOf(list: string): string {
  return `nullif(jsonb_array_length(strategy -> '${list}'), 0)`;
}

/** SQL: what each strategy that is not disabled contributes to the reach of a feature in an environment. */
const reachRules = `, 'rules', coalesce((
  select json_agg(${withoutNulls(
    `'name': strategy ->> 'name'`,
    `'share': coalesce(strategy #>> '{parameters,rollout}', strategy #>> '{parameters,percentage}')`,
    `'segments': nullif(strategy -> 'segments', '[]')`,
    `'constraints': ${countOf('constraints')}`,
    `'variants': ${countOf('variants')}`,
  )} order by nth)
  from jsonb_array_elements(settings -> 'strategies') with ordinality as listed (strategy, nth)
  where strategy @> '{"disabled": false}'), '[]')`;

/** SQL: the states of features for projections. @param from a table or a sub-select of its rows */
export function featureStatesSql(from: string): string {
  return `
  select f.name as id, f.version, json_build_object(${membersWith(featureFieldsFor('search'))}, ${archivedAt},
    'dependencyType', case when f.parents <> '{}' then 'child' when exists (select from ${activeChildrenOf('f.name')}) then 'parent' end,
    'segments', f.segment_ids,
    'favoritedBy', coalesce((select json_agg(user_id order by user_id) from feature_favorite where feature = f.name), '[]')) as state
  from ${from} f ${environments(reachRules)}`;
}

/** SQL: the message with the state of a feature for projections; null after its deletion. */
export function currentFeatureSql(name: string): string {
  return `
  select json_build_object('entity', 'feature', 'id', id, 'version', version, 'state', state) from (
    select * from (${featureStatesSql(`(select * from feature where name = ${name})`)}) as stored
    union all
    select name, version, null from deleted_feature
    where name = ${name} and not exists (select from feature where name = deleted_feature.name)
  ) as current`;
}

/**
 * SQL: the strategies of active features as a sorted JSON array.
 * @param ofFeature a condition on the feature `f`
 * @param ofStrategy a condition on the JSON `strategy`
 */
export function strategiesWhereSql(ofFeature: string, ofStrategy: string): string {
  return `coalesce((
  select json_agg(json_build_object('id', strategy ->> 'id', 'projectId', f.project, 'featureName', f.name,
    'strategyName', strategy ->> 'name', 'environment', environment) order by f.name, environment, ordinal)
  from feature f, jsonb_each(f.environments) as environments (environment, settings),
    jsonb_array_elements(settings -> 'strategies') with ordinality as listed (strategy, ordinal)
  where ${ofFeature} and f.archived_at is null and ${ofStrategy}), '[]')`;
}
