import type { FeatureTypeDescription } from '@bunting/contracts';
import { prepared, type ReadDatabase, type Tx } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import { FeatureTypeEntity, sql } from '../unit-of-work/entities.ts';
import { readJson } from '../unit-of-work/sql.ts';
import type { DomainEvent } from './feature.ts';

const all = prepared(`
  select json_build_object('version', 1, 'types', coalesce(json_agg(${sql.jsonOf(FeatureTypeEntity, 'feature_type')} order by id), '[]'))::text as json from feature_type`);

/** Reads feature types outside of transactions, as JSON. */
export function featureTypeReader(database: ReadDatabase) {
  return {
    all: (): Promise<string> => readJson(database, all),
  };
}

const findForUpdate = `
  select ${sql.selectOf(FeatureTypeEntity, 'feature_type')} from feature_type where id = $1 for update`;

/** Feature types within a transaction. */
export function featureTypeRepository(tx: Tx, recordEvents: RecordEvents) {
  return {
    findForUpdate: async (id: string): Promise<FeatureTypeDescription | undefined> =>
      (await tx.query<FeatureTypeDescription>(findForUpdate, [id]))[0],

    /** Stores the lifetime of a locked type, unless it is the same object as before; nothing else of a type changes. */
    save: async (
      before: FeatureTypeDescription,
      after: FeatureTypeDescription,
      events: readonly DomainEvent[],
    ): Promise<void> => {
      const { id, lifetimeDays } = after;
      if (after !== before) await tx.em.nativeUpdate(FeatureTypeEntity, { id }, { lifetimeDays });
      recordEvents(events);
    },
  };
}
