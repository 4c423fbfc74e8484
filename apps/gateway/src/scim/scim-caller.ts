import { type Caller, systemCaller } from '@bunting/contracts';

/** The caller of the changes that an identity provider makes through SCIM. */
export const scimCaller: Caller = { id: systemCaller.id, name: 'SCIM', grants: [] };
