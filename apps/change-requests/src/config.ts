import { databaseSettings, outboxSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** Everything that the service reads from its environment. */
export const ChangeRequestsConfig = Type.Object({
  ...databaseSettings('CHANGE_REQUESTS'),
  ...outboxSettings('CHANGE_REQUESTS'),
  CHANGE_REQUESTS_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls of features and of the gateway without a wake-up signal',
  }),
  CHANGE_REQUESTS_SCHEDULE_INTERVAL_MS: Type.Integer({
    minimum: 10,
    maximum: 60_000,
    default: 500,
    description:
      'milliseconds until a background job that failed is retried, such as applying a scheduled change request',
  }),
  CHANGE_REQUESTS_RECOVERY_MS: Type.Integer({
    minimum: 100,
    default: 5_000,
    description: 'milliseconds after which any replica resumes an interrupted attempt to apply a change request',
  }),
  CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: Type.Boolean({
    default: false,
    description: 'whether an admin token, which belongs to no user, may approve and reject',
  }),
  CHANGE_REQUESTS_ADMINS_REVIEW_OWN: Type.Boolean({
    default: false,
    description: 'whether administrators may approve and reject their own change requests',
  }),
  CHANGE_REQUESTS_VOLUNTARY: Type.Boolean({
    default: true,
    description: 'whether change requests may be created in environments that do not require them',
  }),
});
export type ChangeRequestsConfig = Static<typeof ChangeRequestsConfig>;
