import type { SchemaStep } from '@bunting/database';

/**
 * `feature.production_at` is when a feature was first enabled in an environment of type production: it is set as the feature is
 * saved. Of features that were enabled before this step only the time at which they went live is known; `-infinity` says that they
 * were in production already. The index has what the figures of a project are counted from.
 */
export const productionTime: SchemaStep = {
  name: '2026-12-03-production-time',
  statements: [
    'alter table feature add column production_at timestamptz',
    `update feature f set production_at = coalesce((
        select min((stage ->> 'enteredStageAt')::timestamptz) from jsonb_array_elements(f.lifecycle) as stage
        where stage ->> 'stage' = 'live'), '-infinity')
      where exists (
        select from environment e where e.type = 'production' and (f.environments -> e.name -> 'enabled')::boolean)`,
    'create index feature_dates on feature (project) include (created_at, archived_at, production_at)',
  ],
};
