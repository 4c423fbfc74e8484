import type { FeatureTypeDescription } from '@bunting/contracts';
import type { Database, Statement, Tx } from '@bunting/database';

/** Types of features within a unit of work. */
export interface FeatureTypeRepository {
  findForUpdate(id: string): Promise<FeatureTypeDescription | undefined>;
  setLifetime(id: string, lifetimeDays: number | null): Promise<void>;
}

export const featureTypeRepository = ({ query }: Tx): FeatureTypeRepository => ({
  findForUpdate: async (id) => {
    const text = `
      select id, name, description, lifetime_days as "lifetimeDays" from feature_type where id = $1 for update`;
    return (await query<FeatureTypeDescription>(text, [id]))[0];
  },

  setLifetime: async (id, lifetimeDays) => {
    await query('update feature_type set lifetime_days = $2 where id = $1', [id, lifetimeDays]);
  },
});

const all: Statement = {
  name: 'feature-types',
  text: `
    select json_build_object('version', 1, 'types', coalesce(json_agg(json_build_object('id', id, 'name', name,
      'description', description, 'lifetimeDays', lifetime_days) order by id), '[]'))::text as json from feature_type`,
};

/** Types of features as they are now, as JSON, for who only looks. */
export interface FeatureTypeReader {
  all(): Promise<string>;
}

export const featureTypeReader = (database: Database): FeatureTypeReader => ({
  all: async () => (await database.read<{ json: string }>(all))[0]?.json ?? '',
});
