import { consumersOf, type Producer, type ServiceName } from '@bunting/contracts';

/** The services that emit events. */
export const producers = Object.keys(consumersOf) as Producer[];

/** The services that apply messages of other services to their own tables. */
export const consumers = ['audit', 'search', 'change-requests'] as const satisfies ServiceName[];
