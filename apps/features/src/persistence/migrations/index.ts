import { appliedChangeRequests } from './applied-changes.ts';
import { freshInstall } from './fresh-install.ts';
import { tables } from './tables.ts';

/** The steps of the schema, in their order. */
export const steps = [tables, freshInstall, appliedChangeRequests];
