import type { FeatureTypeDescription } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { DomainEvent } from './feature.ts';
import { FeatureTypeEntity, sql } from '../unit-of-work/entities.ts';
import type { RecordEvents } from '../unit-of-work/record-events.ts';

const findForUpdate = `
  select ${sql.selectOf(FeatureTypeEntity, 'feature_type')} from feature_type where id = $1 for update`;

/** Feature types within a transaction. */
export const featureTypeRepository = (tx: Tx, recordEvents: RecordEvents) => ({
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
});
