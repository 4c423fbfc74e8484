import type { Caller } from '@bunting/contracts';
import { removeTags } from './feature-tags.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { saveDecisions } from '../unit-of-work/save-decisions.ts';

/** Removes a tag, or all tags of a type, from all features. */
export const untagEverywhere = async (
  tx: Transaction,
  type: string,
  value: string | undefined,
  caller: Caller,
): Promise<void> => {
  const features = await tx.features.findAllOfInstanceForUpdate(await tx.tags.featureNames(type, value));
  await saveDecisions(
    tx,
    features.map((feature) => removeTags(feature, type, value)),
    caller,
  );
};
