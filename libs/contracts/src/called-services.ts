import type { ServiceName } from './operation.ts';

/** For each service, the services that it calls. It consumes events of these only. */
export const calledServices: Readonly<Record<ServiceName, readonly ServiceName[]>> = {
  features: ['gateway', 'change-requests', 'audit'],
  'change-requests': ['gateway', 'features'],
  audit: ['gateway', 'features', 'change-requests', 'search'],
  search: ['features'],
  gateway: ['features', 'change-requests', 'audit', 'search'],
};
