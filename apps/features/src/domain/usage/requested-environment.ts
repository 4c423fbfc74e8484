import { boundEnvironment, type Caller } from '@bunting/contracts';

/** The environment of an application: that of its token, else the one that it names, else `default`. */
export const requestedEnvironment = (caller: Caller, named: string | undefined): string =>
  boundEnvironment(caller) ?? named ?? 'default';
