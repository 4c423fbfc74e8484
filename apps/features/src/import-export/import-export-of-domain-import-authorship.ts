import type { Caller, UserReference } from '@bunting/contracts';

/** The caller and the time of an import, and the source of new ids. */
export interface ImportAuthorship {
  readonly caller: Caller;
  readonly now: string;
  /** the caller as the creator of features */
  readonly author: UserReference;
  /** a new id of a strategy or a link */
  readonly generateId: () => string;
}
