import { refusal } from '@bunting/contracts';
import type { Feature } from './feature.ts';
import { shortName } from '../refusals.ts';

/** Refuses to change features of projects other than the requested one. */
export const requireSameProject = (features: readonly Feature[], project: string): void => {
  const others = new Set(features.map((feature) => feature.project).filter((id) => id !== project));
  if (others.size === 0) return;
  throw refusal(
    'InvalidOperationError',
    `The operation could not be completed. The features exist, but their project ids ("${shortName([...others].join(', '))}") ` +
      `do not match the project in the request URL ("${shortName(project)}").`,
  );
};
