import { databaseSettings, outboxSettings, smtpSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** Everything that the service reads from its environment. */
export const IntegrationsConfig = Type.Object({
  ...databaseSettings('INTEGRATIONS'),
  ...outboxSettings('INTEGRATIONS'),
  INTEGRATIONS_SECRET_KEY: Type.Optional(
    Type.String({
      secret: true,
      minLength: 32,
      description:
        'key with which secrets of integrations are encrypted and links in mails are signed; without it no integration with a secret can be stored, and most have one',
    }),
  ),
  INTEGRATIONS_ALLOWED_HOSTS: Type.String({
    default: '',
    description:
      'comma-separated host names, IP addresses and networks in CIDR notation that events may be sent to although they are not public, such as `chat.internal,10.2.0.0/16`',
  }),
  INTEGRATIONS_PUBLIC_URL: Type.String({
    pattern: '^(https?://.*)?$',
    default: '',
    description: 'the address of the web console; links in messages begin with it, and there are none without it',
  }),
  ...smtpSettings(
    'for notifications; without it none are mailed; requires INTEGRATIONS_PUBLIC_URL and INTEGRATIONS_SECRET_KEY',
  ),
  INTEGRATIONS_SLACK_URL: Type.String({
    pattern: '^https?://.*$',
    default: 'https://slack.com',
    description: 'the address of Slack, for Slack apps; another one for GovSlack (https://slack-gov.com)',
  }),
  INTEGRATIONS_MAIL_HOUR: Type.Integer({
    minimum: 0,
    maximum: 23,
    default: 7,
    description: 'hour in UTC at which those who want so are mailed what has happened in a day',
  }),
  INTEGRATIONS_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 30_000,
    default: 15_000,
    description: 'milliseconds after which a destination that has not responded completely counts as failed',
  }),
  INTEGRATIONS_LEASE_MS: Type.Integer({
    minimum: 1_000,
    maximum: 600_000,
    default: 60_000,
    description:
      'milliseconds after which another replica delivers to a destination whose replica does not go on; at least twice INTEGRATIONS_TIMEOUT_MS',
  }),
  INTEGRATIONS_RETRY_SECONDS: Type.String({
    pattern: '^[0-9]{1,7}(,[0-9]{1,7}){0,19}$',
    default: '5,300,1800,7200,18000,36000,50400,72000,86400',
    description:
      'seconds between the attempts to deliver an event, by default those of Standard Webhooks; after the last one the event is a dead letter',
  }),
  INTEGRATIONS_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between looks at the event log without a wake-up signal',
  }),
  INTEGRATIONS_MAX_ADDONS: Type.Integer({
    minimum: 1,
    default: 500,
    description: 'maximum number of integrations',
  }),
  INTEGRATIONS_MAX_SIGNAL_ENDPOINTS: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 5,
    description: 'maximum number of signal endpoints',
  }),
  INTEGRATIONS_MAX_SIGNAL_TOKENS: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 5,
    description: 'maximum number of tokens of a signal endpoint',
  }),
  INTEGRATIONS_MAX_ACTION_SETS: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 5,
    description: 'maximum number of action sets of a project',
  }),
  INTEGRATIONS_MAX_SIGNALS_PER_MINUTE: Type.Integer({
    minimum: 1,
    maximum: 6_000,
    default: 60,
    description: 'maximum number of signals per minute that an endpoint accepts, on all replicas together; 429 beyond',
  }),
});
export type IntegrationsConfig = Static<typeof IntegrationsConfig>;
