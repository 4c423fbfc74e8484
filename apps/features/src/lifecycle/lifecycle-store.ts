import { lifecycleStageOfMember } from '@bunting/contracts';
import { prepared, type ReadDatabase } from '@bunting/database';
import { currentStage } from '../unit-of-work/feature-sql.ts';
import { readJson } from '../unit-of-work/sql.ts';

const lifecycleCounts = prepared(`
  select json_build_object(${Object.entries(lifecycleStageOfMember)
    .map(([member, stage]) => `'${member}', count(*) filter (where stage = '${stage}')`)
    .join(', ')})::text as json
  from (
    select case when archived_at is not null then 'archived' else ${currentStage('feature')} ->> 'stage' end as stage
    from feature where project <> all ($1::text[])) as staged`);

/** Counts the features of projects that are not hidden by lifecycle stage, as JSON. */
export function lifecycleCountReader(database: ReadDatabase) {
  return (hidden: readonly string[]): Promise<string> => readJson(database, lifecycleCounts, [hidden]);
}
