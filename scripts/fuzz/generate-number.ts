import type { Schema } from './api-description.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** Generates a number within the bounds of a schema: often the minimum or the maximum. */
export const generateNumber = (schema: Schema, isInteger: boolean, random: SeededRandom): number => {
  const step = schema.multipleOf ?? (isInteger ? 1 : 0);
  const minimum = schema.minimum ?? schema.exclusiveMinimum ?? -5;
  const maximum = schema.maximum ?? schema.exclusiveMaximum ?? Math.max(minimum, 0) + 200;
  const chosen = random.chance(0.2)
    ? minimum
    : random.chance(0.2)
      ? maximum
      : minimum + random.fraction() * (maximum - minimum);
  if (step === 0) return Math.round(chosen * 1000) / 1000;
  const stepped = Math.round(chosen / step) * step;
  return stepped < minimum ? stepped + step : stepped > maximum ? stepped - step : stepped;
};
