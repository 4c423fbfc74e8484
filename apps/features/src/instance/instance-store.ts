import type { CountResources, ReplyOf } from '@bunting/contracts';
import { onlyRow, prepared, type ReadDatabase } from '@bunting/database';

const counts = prepared(`
  select
    (select count(*) from feature where archived_at is null) as features,
    (select count(*) from feature where archived_at is not null) as "archivedFeatures",
    (select count(*) from project where archived_at is null) as projects,
    (select count(*) from context_field) as "contextFields",
    (select count(*) from environment) as environments,
    (select count(*) from segment) as segments,
    (select count(*) from strategy_type) as "strategyTypes",
    (select json_build_object('allTime', count(*),
        'last30', count(*) filter (where last_seen_at > now() - interval '30 days'),
        'last7', count(*) filter (where last_seen_at > now() - interval '7 days'))
      from client_application) as applications,
    array(select name from environment where type = 'production' order by name) as "productionEnvironments"`);

type ResourceCounts = ReplyOf<typeof CountResources>;

/** Counts the objects of the service, in one statement. */
export function resourceCountReader(database: ReadDatabase) {
  return async (): Promise<ResourceCounts> => onlyRow(await database.read<ResourceCounts>(counts, []), counts);
}
