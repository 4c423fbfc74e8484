import { consumersOf, type Producer, type ServiceName } from '@bunting/contracts';

/** The services that emit events. */
export const producers = Object.keys(consumersOf) as Producer[];

/** The services that apply messages of other services to their own tables. */
export const consumers: readonly ServiceName[] = [
  ...new Set(Object.values(consumersOf).flatMap(({ event, state }) => [...event, ...state])),
];
