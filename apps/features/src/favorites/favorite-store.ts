import type { Tx } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import { FeatureFavoriteEntity } from '../unit-of-work/entities.ts';
import { insertIfAbsent } from '../unit-of-work/sql.ts';

export function featureFavoriteRepository(tx: Tx, recordEvents: RecordEvents) {
  return {
    /** Returns false if the feature is a favourite of the user already. */
    add: async (feature: string, userId: number, events: readonly DomainEvent[]): Promise<boolean> => {
      const isAdded = await insertIfAbsent(tx, FeatureFavoriteEntity, { feature, userId });
      if (isAdded) recordEvents(events);
      return isAdded;
    },
    /** Returns false if the feature is not a favourite of the user. */
    remove: async (feature: string, userId: number, events: readonly DomainEvent[]): Promise<boolean> => {
      const isRemoved = (await tx.em.nativeDelete(FeatureFavoriteEntity, { feature, userId })) > 0;
      if (isRemoved) recordEvents(events);
      return isRemoved;
    },
  };
}
