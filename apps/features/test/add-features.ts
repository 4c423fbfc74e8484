import { systemCaller } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import type { Feature } from '../src/features/feature.ts';
import { protectionGuard } from '../src/unit-of-work/protection.ts';
import { featureRepository } from '../src/features/feature-store.ts';

const discardingOutbox = {
  emit: () => undefined,
  emitState: () => undefined,
  emitDelivery: () => undefined,
  send: () => undefined,
};

/** Stores features without events, states and locks of references: for tests that begin with them. */
export const addFeatures = (
  { transaction }: Pick<Database, 'transaction'>,
  features: readonly Feature[],
): Promise<void> =>
  transaction((tx) =>
    featureRepository(tx, discardingOutbox, {
      guard: protectionGuard(
        { kind: 'caller', caller: systemCaller },
        { protectedEnvironmentsOf: async () => [], protectedUsesOf: async () => [] },
      ),
      lockReferences: () => Promise.resolve(),
      hidden: [],
      isProjectVisible: () => true,
      settings: { allowsRegex: false },
      recordEvents: () => undefined,
    }).add(features, []),
  );
