import { type Caller, systemCaller } from '@bunting/contracts';

/** The caller of what an identity provider changes. */
export const scimCaller: Caller = { id: systemCaller.id, name: 'SCIM', grants: [] };
