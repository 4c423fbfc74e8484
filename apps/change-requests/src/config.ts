import { databaseSettings, outboxSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** Everything that the service reads from its environment. */
export const ChangeRequestsConfig = Type.Object({
  ...databaseSettings('CHANGE_REQUESTS'),
  ...outboxSettings('CHANGE_REQUESTS'),
  CHANGE_REQUESTS_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls of the features and the gateway; a commit announces itself',
  }),
  CHANGE_REQUESTS_SCHEDULE_INTERVAL_MS: Type.Integer({
    minimum: 10,
    maximum: 60_000,
    default: 500,
    description: 'milliseconds until a scheduled change that could not be applied at its time is tried again',
  }),
  CHANGE_REQUESTS_RECOVERY_MS: Type.Integer({
    minimum: 100,
    default: 5_000,
    description: 'milliseconds after which applying that did not end is taken up again, by whichever replica',
  }),
  CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: Type.Boolean({
    default: false,
    description: 'whether an admin token, behind which no person stands, may approve and reject',
  }),
  CHANGE_REQUESTS_ADMINS_REVIEW_OWN: Type.Boolean({
    default: false,
    description: 'whether administrators may approve and reject what they proposed themselves',
  }),
  CHANGE_REQUESTS_VOLUNTARY: Type.Boolean({
    default: true,
    description: 'whether changes may be proposed where no change request is needed',
  }),
});
export type ChangeRequestsConfig = Static<typeof ChangeRequestsConfig>;
