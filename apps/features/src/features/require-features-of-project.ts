import { refusal } from '@bunting/contracts';
import type { Feature } from './feature.ts';
import { shortName } from '../refusals.ts';

/** Refuses to change features of projects other than the requested one. */
export const requireFeaturesOfProject = (features: readonly Feature[], project: string): void => {
  const others = new Set(features.map((feature) => feature.project).filter((id) => id !== project));
  if (others.size === 0) return;
  // The words are Unleash's, also the singular.
  throw refusal(
    'InvalidOperationError',
    `The operation could not be completed. The features exist, but the provided project ids ("${shortName([...others].join(','))}") ` +
      `does not match the project provided in request URL ("${shortName(project)}").`,
  );
};
