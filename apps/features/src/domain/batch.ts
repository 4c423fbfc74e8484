import { refusal } from '@bunting/contracts';
import type { Feature } from './feature.ts';
import { named } from './refusals.ts';

/** Refuses to touch features of other projects than the one that was asked. */
export const requireOfProject = (features: readonly Feature[], project: string): void => {
  const others = new Set(features.map((feature) => feature.project).filter((id) => id !== project));
  if (others.size === 0) return;
  throw refusal(
    'InvalidOperationError',
    `The operation could not be completed. The features exist, but the provided project ids ("${named([...others].join(', '))}") ` +
      `does not match the project provided in request URL ("${named(project)}").`,
  );
};
