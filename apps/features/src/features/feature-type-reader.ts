import type { ReadDatabase, Statement } from '@bunting/database';
import { FeatureTypeEntity, sql } from '../unit-of-work/entities.ts';
import { readJson } from '../unit-of-work/read-json.ts';

const all: Statement = {
  name: 'feature-types',
  text: `
    select json_build_object('version', 1, 'types', coalesce(json_agg(${sql.jsonOf(FeatureTypeEntity, 'feature_type')} order by id), '[]'))::text as json from feature_type`,
};

/** Reads feature types outside of transactions, as JSON. */
export const featureTypeReader = (database: ReadDatabase) => ({
  all: (): Promise<string> => readJson(database, all),
});
