import type { EventType } from '@bunting/contracts';

/** An event of users, groups, roles and tokens. It must never contain a secret or a network address. */
export interface AccessEvent {
  readonly type: EventType;
  readonly project?: string | null;
  readonly environment?: string | null;
  readonly data?: object | null;
  readonly preData?: object | null;
}
