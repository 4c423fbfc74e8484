import { boundEnvironment, type Caller } from '@bunting/contracts';

/** The environment of an application: that of its token, or else the environment that the request names, or else `default`. */
export const effectiveEnvironment = (caller: Caller, named: string | undefined): string =>
  boundEnvironment(caller) ?? named ?? 'default';
