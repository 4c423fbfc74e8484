import type { CreateEnvironmentBody, UpdateEnvironmentBody } from '@bunting/contracts';
import type { DomainEvent } from './feature.ts';
import { requireUrlFriendlyName } from './names.ts';
import { isSame } from './same.ts';

/** A place where features are switched on and off. */
export interface StoredEnvironment {
  readonly name: string;
  readonly type: string;
  readonly sortOrder: number;
  readonly enabled: boolean;
  readonly protected: boolean;
}

/** The largest place that the API can express. */
const lastSortOrder = 1_000_000_000;

/** A new environment, after those that there are unless it says where. Whether its name is free is not decided here. */
export const newEnvironment = (
  { name, type, enabled = true, sortOrder }: CreateEnvironmentBody,
  latest: number,
): StoredEnvironment => {
  requireUrlFriendlyName(name);
  return { name, type, enabled, sortOrder: sortOrder ?? Math.min(latest + 1, lastSortOrder), protected: false };
};

/** What becomes of an environment. The same environment and no events: nothing changed. */
export const updateEnvironment = (
  environment: StoredEnvironment,
  { type = environment.type, sortOrder = environment.sortOrder }: UpdateEnvironmentBody,
): { readonly environment: StoredEnvironment; readonly events: readonly DomainEvent[] } => {
  const after = { ...environment, type, sortOrder };
  if (isSame(after, environment)) return { environment, events: [] };
  const event: DomainEvent = {
    type: 'environment-updated',
    environment: environment.name,
    data: after,
    preData: environment,
  };
  return { environment: after, events: [event] };
};
