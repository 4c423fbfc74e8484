import type { AddonProvider, EventType } from '@bunting/contracts';

type Parameter = AddonProvider['parameters'][number];

const documentation = 'https://github.com/bunting/bunting/blob/main/docs/integrations.md';

function parameter(
  name: string,
  displayName: string,
  description: string,
  { type = 'text', required = false, sensitive = false, placeholder }: Partial<Parameter> = {},
): Parameter {
  return {
    name,
    displayName,
    type,
    description,
    required,
    sensitive,
    ...(placeholder === undefined ? {} : { placeholder }),
  };
}

const customHeaders = parameter(
  'customHeaders',
  'Extra HTTP headers',
  'Further headers of each request, as a JSON object of texts.',
  { type: 'textfield', sensitive: true, placeholder: '{ "X-Team": "checkout" }' },
);
const bodyTemplate = parameter(
  'bodyTemplate',
  'Body template',
  'The body as a Mustache template, with {{event.…}}, {{{eventJson}}} and {{eventMarkdown}}. Without one the body is the default of this kind.',
  { type: 'textfield', placeholder: '{ "event": "{{event.type}}", "createdBy": "{{event.createdBy}}" }' },
);
const secretUrl = { type: 'url', required: true, sensitive: true };

const flagEvents: readonly EventType[] = [
  'feature-created',
  'feature-updated',
  'feature-archived',
  'feature-revived',
  'feature-stale-on',
  'feature-stale-off',
  'feature-completed',
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-strategy-remove',
  'feature-strategy-update',
  'feature-strategy-add',
  'feature-metadata-updated',
  'feature-variants-updated',
  'feature-project-change',
  'feature-tagged',
  'feature-untagged',
  'feature-potentially-stale-on',
];
const changeRequestEvents: readonly EventType[] = [
  'change-request-created',
  'change-request-discarded',
  'change-added',
  'change-discarded',
  'change-request-approved',
  'change-request-approval-added',
  'change-request-cancelled',
  'change-request-sent-to-review',
  'change-request-applied',
  'change-request-scheduled',
  'change-request-scheduled-application-success',
  'change-request-scheduled-application-failure',
  'change-request-schedule-suspended',
];
const furtherEvents: readonly EventType[] = [
  'feature-environment-variants-updated',
  'feature-deleted',
  'change-edited',
  'change-request-rejected',
];
/** The events that every kind of integration can be sent. Administrators may choose any others as well. */
const events: string[] = [...flagEvents, ...changeRequestEvents, ...furtherEvents];

/** Those of a log, which may have all of them. */
const logEvents = ['*', ...events];

const slackTags = [{ name: 'slack', description: 'A channel of Slack that is told of events of the flag.', icon: 'S' }];

/** The kinds of integrations, with Unleash's names of them and of their parameters. */
export const providers: readonly AddonProvider[] = [
  {
    name: 'webhook',
    displayName: 'Webhook',
    description:
      'Sends each event as an HTTP request to an address of yours, signed by Standard Webhooks if you give it keys.',
    documentationUrl: `${documentation}#webhook`,
    parameters: [
      parameter('url', 'Webhook URL', 'The address that gets a POST request with each event.', secretUrl),
      parameter('contentType', 'Content-Type', 'The content type of the body; application/json by default.', {
        placeholder: 'application/json',
      }),
      parameter('authorization', 'Authorization', 'The value of the header Authorization.', { sensitive: true }),
      customHeaders,
      bodyTemplate,
      parameter(
        'signingKeys',
        'Signing keys',
        'Keys of Standard Webhooks, separated by spaces: whsec_… signs with HMAC-SHA-256, whsk_… with Ed25519. Each request has a signature of every key, so that a new key can be added before the old one is removed.',
        { type: 'textfield', sensitive: true, placeholder: 'whsec_…' },
      ),
    ],
    events,
  },
  {
    name: 'slack',
    displayName: 'Slack or Mattermost webhook',
    description: 'Writes a message about each event to a channel, through an incoming webhook of Slack or Mattermost.',
    documentationUrl: `${documentation}#slack`,
    parameters: [
      parameter('url', 'Webhook URL', 'The address of the incoming webhook.', secretUrl),
      parameter('username', 'Username', 'The name under which messages appear.', { placeholder: 'Bunting' }),
      parameter('emojiIcon', 'Emoji icon', 'The emoji that messages have as a picture.', { placeholder: ':flags:' }),
      parameter('defaultChannel', 'Default channel', 'The channel of flags without a tag of the type slack.', {
        required: true,
        placeholder: 'general',
      }),
      customHeaders,
    ],
    events,
    tagTypes: slackTags,
  },
  {
    name: 'slack-app',
    displayName: 'Slack app',
    description: 'Writes a message about each event to channels of Slack, as an app of your workspace.',
    documentationUrl: `${documentation}#slack-app`,
    parameters: [
      parameter('accessToken', 'Access token', 'The bot token of the app, with the scope chat:write.', {
        required: true,
        sensitive: true,
        placeholder: 'xoxb-…',
      }),
      parameter(
        'defaultChannels',
        'Channels',
        'Comma-separated channels. Events of a flag with tags of the type slack also go to the channels that these name.',
        { placeholder: 'general,releases' },
      ),
      parameter(
        'signingSecret',
        'Signing secret',
        'With the signing secret of the app, messages about change requests in review have buttons to approve, reject and comment. Set the Request URL under Interactivity & Shortcuts of the app to the address of Bunting, followed by /api/integrations/slack/ and the number of this integration and /interactions.',
        { sensitive: true },
      ),
    ],
    events,
    tagTypes: slackTags,
  },
  {
    name: 'teams',
    displayName: 'Microsoft Teams connector',
    description: 'Writes a message about each event to a channel of Microsoft Teams, through an Office 365 connector.',
    documentationUrl: `${documentation}#microsoft-teams`,
    parameters: [parameter('url', 'Webhook URL', 'The address of the connector.', secretUrl), customHeaders],
    events,
  },
  {
    name: 'teamsworkflow',
    displayName: 'Microsoft Teams workflow',
    description: 'Sends each event as an adaptive card to a workflow of Microsoft Teams.',
    documentationUrl: `${documentation}#microsoft-teams`,
    parameters: [
      parameter('url', 'Workflow URL', 'The address that the trigger of the workflow shows.', secretUrl),
      customHeaders,
    ],
    events,
  },
  {
    name: 'datadog',
    displayName: 'Datadog',
    description: 'Posts each event to the events of Datadog.',
    documentationUrl: `${documentation}#datadog`,
    parameters: [
      parameter('url', 'Datadog events URL', 'The address of the events API of your Datadog site.', {
        type: 'url',
        placeholder: 'https://api.datadoghq.com/api/v1/events',
      }),
      parameter('apiKey', 'Datadog API key', 'The key, sent as DD-API-KEY.', { required: true, sensitive: true }),
      parameter('sourceTypeName', 'Source type name', 'The source type of the events.'),
      customHeaders,
      bodyTemplate,
    ],
    events,
    tagTypes: [{ name: 'datadog', description: 'A tag of Datadog that events of the flag get.', icon: 'D' }],
  },
  {
    name: 'new-relic',
    displayName: 'New Relic',
    description: 'Posts each event to the Event API of New Relic.',
    documentationUrl: `${documentation}#new-relic`,
    parameters: [
      parameter('url', 'Event API URL', 'The address of the Event API with your account.', {
        type: 'url',
        required: true,
        placeholder: 'https://insights-collector.newrelic.com/v1/accounts/YOUR_ACCOUNT_ID/events',
      }),
      parameter('licenseKey', 'License key', 'The key, sent as Api-Key.', { required: true, sensitive: true }),
      customHeaders,
      bodyTemplate,
    ],
    events,
    tagTypes: [{ name: 'new-relic', description: 'A tag of New Relic that events of the flag get.', icon: 'N' }],
  },
  {
    name: 'otlp',
    displayName: 'OpenTelemetry logs',
    description: 'Sends each event as a log record to a collector or a backend of OpenTelemetry, by OTLP over HTTP.',
    documentationUrl: `${documentation}#opentelemetry-logs`,
    parameters: [
      parameter('url', 'Logs URL', 'The address of the logs endpoint, which usually ends with /v1/logs.', {
        type: 'url',
        required: true,
        placeholder: 'https://otlp.example.org/v1/logs',
      }),
      customHeaders,
    ],
    events: logEvents,
  },
  {
    name: 'syslog',
    displayName: 'Syslog',
    description: 'Writes each event to a syslog server, as RFC 5424 says, over TLS.',
    documentationUrl: `${documentation}#syslog`,
    parameters: [
      parameter('url', 'Address', 'Host and port of the server, 6514 by default.', {
        type: 'url',
        required: true,
        placeholder: 'tls://siem.example.org:6514',
      }),
      parameter('hostname', 'Host name', 'The name of this installation in the records.', {
        placeholder: 'flags.example.org',
      }),
    ],
    events: logEvents,
  },
  {
    name: 'email',
    displayName: 'Email',
    description: 'Mails events to addresses: each at once, or those of a day together.',
    documentationUrl: `${documentation}#email`,
    parameters: [
      parameter('to', 'Addresses', 'Comma-separated addresses, at most 20.', {
        required: true,
        placeholder: 'releases@example.org',
      }),
      parameter('digest', 'Digest', 'daily: one mail a day with all events. Otherwise each event is mailed at once.', {
        placeholder: 'daily',
      }),
    ],
    events,
  },
  {
    name: 's3',
    displayName: 'S3-compatible storage',
    description: 'Archives events as NDJSON: an object an hour, or of 16 MiB, under a key of their ids.',
    documentationUrl: `${documentation}#s3-compatible-storage`,
    parameters: [
      parameter('url', 'Endpoint', 'The address of the storage, without the bucket.', {
        type: 'url',
        required: true,
        placeholder: 'https://s3.eu-central-1.amazonaws.com',
      }),
      parameter('region', 'Region', 'The region that requests are signed for; us-east-1 by default.', {
        placeholder: 'eu-central-1',
      }),
      parameter('bucket', 'Bucket', 'The bucket, which exists.', { required: true, placeholder: 'flag-events' }),
      parameter('prefix', 'Prefix', 'What keys begin with.', { placeholder: 'bunting/production' }),
      parameter(
        'addressing',
        'Addressing',
        'virtual-host: the bucket is a part of the host name. Otherwise it is the first part of the path.',
        { placeholder: 'virtual-host' },
      ),
      parameter('accessKeyId', 'Access key id', 'The id of a key that may put objects, and nothing else.', {
        required: true,
      }),
      parameter('secretAccessKey', 'Secret access key', 'The key.', { required: true, sensitive: true }),
      parameter(
        'retentionDays',
        'Retention in days',
        'Object Lock: for how many days after its last event nobody can delete an object. The bucket must have it turned on.',
        { placeholder: '365' },
      ),
      parameter('retentionMode', 'Retention mode', 'GOVERNANCE, which it is by default, or COMPLIANCE.', {
        placeholder: 'COMPLIANCE',
      }),
      parameter(
        'signingKeys',
        'Signing keys',
        'Keys of Standard Webhooks, separated by spaces: each signs the head of the log in the metadata of an object, whsk_… with Ed25519.',
        { type: 'textfield', sensitive: true, placeholder: 'whsk_…' },
      ),
    ],
    events: logEvents,
  },
];

export function findProvider(name: string): AddonProvider | undefined {
  return providers.find((provider) => provider.name === name);
}
