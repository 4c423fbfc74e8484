import { type Event, invalid } from '@bunting/contracts';
import type { Parameters } from '../addons/addon.ts';
import { batchMessage, lineOf, mailMessage } from './batch.ts';
import { escapeForSlack, plainText, sentenceOf, shortened, slackText, withoutRelativeLinks } from './markdown.ts';
import { otlpLog, syslogMessage } from './log-records.ts';
import { renderTemplate, requireTemplate } from './template.ts';

/** What is sent to a destination for an event. */
export interface Message {
  /** POST when left out */
  readonly method?: 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers that the client sets, or that change what the request is. */
const reservedHeaders = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/;
const headerValue = /^[\t\x20-\x7e]*$/;

function requireHeaderValue(value: string | undefined, path: string): void {
  if (value === undefined || headerValue.test(value)) return;
  throw invalid(
    `The \`${path}\` property must have characters of ASCII without line breaks, as values of HTTP headers do.`,
    path,
  );
}

function parseHeaders(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Refusal `ValidationError` if a parameter would make no valid header */
export function requireValidHeaders({
  authorization,
  contentType,
  customHeaders,
  apiKey,
  licenseKey,
  accessToken,
}: Parameters): void {
  const values = { authorization, contentType, apiKey, licenseKey, accessToken };
  for (const [name, value] of Object.entries(values)) requireHeaderValue(value, `/body/parameters/${name}`);
  if (customHeaders === undefined) return;
  const path = '/body/parameters/customHeaders';
  const headers = parseHeaders(customHeaders);
  if (headers === undefined) throw invalid(`The \`${path}\` property must be the JSON text of an object.`, path);
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name) || reservedHeaders.includes(name.toLowerCase()))
      throw invalid(
        `The \`${path}\` property must not have a header with the name ${JSON.stringify(name.slice(0, 100))}.`,
        path,
      );
    if (typeof value !== 'string') throw invalid(`The \`${path}\` property must have texts as values.`, path);
    requireHeaderValue(value, path);
  }
}

/** @throws Refusal `ValidationError` if the template of the body is none */
export function requireValidTemplate({ bodyTemplate }: Parameters): void {
  if (bodyTemplate === undefined) return;
  try {
    requireTemplate(bodyTemplate);
  } catch (error) {
    const path = '/body/parameters/bodyTemplate';
    throw invalid(`The \`${path}\` property is no template: ${(error as Error).message}`, path);
  }
}

interface MessageContext {
  readonly parameters: Parameters;
  readonly event: Event;
  /** the event as JSON text */
  readonly text: string;
  /** the id that the event has whenever it is sent */
  readonly id: string;
  /** the sentence about the event, in Markdown */
  readonly markdown: string;
  /** the address of the event's subject in the console; undefined where the server does not know its own address */
  readonly link: string | undefined;
}

/** The maximum number of characters of a sentence in a chat, within the limits of every provider. */
const maxSentence = 2_500;

const json = { 'content-type': 'application/json' };

/** The values of the tags of a type that the flag of the event has. */
function tagsOfType({ tags }: Event, type: string): readonly string[] {
  return (tags ?? []).filter((tag) => tag.type === type).map(({ value }) => value);
}

/** By provider: the requests for an event, each to one channel where there are channels. */
const builders: Readonly<Record<string, (context: MessageContext) => readonly Message[]>> = {
  webhook: ({
    parameters: { url = '', contentType = 'application/json', authorization, bodyTemplate },
    event,
    text,
    markdown,
  }) => [
    {
      url,
      headers: { 'content-type': contentType, ...(authorization === undefined ? {} : { authorization }) },
      body: bodyTemplate === undefined ? text : renderTemplate(bodyTemplate, event, markdown),
    },
  ],

  slack: ({ parameters: { url = '', username, emojiIcon, defaultChannel = '' }, event, markdown, link }) => {
    const tagged = tagsOfType(event, 'slack');
    return (tagged.length > 0 ? tagged : [defaultChannel]).map((channel) => ({
      url,
      headers: json,
      body: JSON.stringify({
        channel: /^[#@]/.test(channel) ? channel : `#${channel}`,
        username: username ?? 'Bunting',
        ...(emojiIcon === undefined ? {} : { icon_emoji: emojiIcon }),
        text: withLink(
          shortened(slackText(markdown), maxSentence),
          link,
          (address) => `<${address}|Open in the console>`,
        ),
      }),
    }));
  },

  'slack-app': ({ parameters, event, markdown, link }) => {
    const { accessToken = '' } = parameters;
    return slackChannels(parameters, event).map((channel) => ({
      url: 'https://slack.com/api/chat.postMessage',
      headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({
        channel,
        text: shortened(escapeForSlack(plainText(markdown)), maxSentence),
        blocks: [
          { type: 'section', text: { type: 'mrkdwn', text: shortened(slackText(markdown), maxSentence) } },
          ...(link === undefined
            ? []
            : [
                {
                  type: 'actions',
                  elements: [{ type: 'button', url: link, text: { type: 'plain_text', text: 'Open in the console' } }],
                },
              ]),
        ],
      }),
    }));
  },

  teams: ({ parameters: { url = '' }, event, markdown, link }) => [
    {
      url,
      headers: json,
      body: JSON.stringify({
        '@type': 'MessageCard',
        '@context': 'https://schema.org/extensions',
        themeColor: '0076D7',
        summary: shortened(plainText(markdown), 200),
        sections: [
          { activityTitle: shortened(withoutRelativeLinks(markdown), maxSentence), facts: factsOf(event, 'name') },
        ],
        ...(link === undefined
          ? {}
          : {
              potentialAction: [
                { '@type': 'OpenUri', name: 'Open in the console', targets: [{ os: 'default', uri: link }] },
              ],
            }),
      }),
    },
  ],

  teamsworkflow: ({ parameters: { url = '' }, event, markdown, link }) => [
    {
      url,
      headers: json,
      body: JSON.stringify({
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            contentUrl: null,
            content: {
              $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
              type: 'AdaptiveCard',
              version: '1.5',
              body: [
                { type: 'TextBlock', wrap: true, text: shortened(withoutRelativeLinks(markdown), maxSentence) },
                { type: 'FactSet', facts: factsOf(event, 'title') },
              ],
              actions: link === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Open in the console', url: link }],
            },
          },
        ],
      }),
    },
  ],

  datadog: ({ parameters: { url, apiKey = '', sourceTypeName, bodyTemplate }, event, markdown, link }) => {
    const text = withLink(shortened(markdown, 3_000), link, (address) => `[Open in the console](${address})`);
    return [
      {
        url: url ?? 'https://api.datadoghq.com/api/v1/events',
        headers: { ...json, 'dd-api-key': apiKey },
        body:
          bodyTemplate === undefined
            ? JSON.stringify({
                title: shortened(
                  `${event.label ?? event.type}${event.featureName == null ? '' : `: ${event.featureName}`}`,
                  100,
                ),
                text: `%%% \n ${text} \n %%%`,
                tags: [
                  ...factsOf(event, 'name').map(({ name, value }) => `${name?.toLowerCase()}:${value}`),
                  ...tagsOfType(event, 'datadog'),
                ],
                ...(sourceTypeName === undefined ? {} : { source_type_name: sourceTypeName }),
              })
            : renderTemplate(bodyTemplate, event, markdown),
      },
    ];
  },

  'new-relic': ({ parameters: { url = '', licenseKey = '', bodyTemplate }, event, markdown }) => [
    {
      url,
      headers: { ...json, 'api-key': licenseKey },
      body:
        bodyTemplate === undefined
          ? JSON.stringify({
              // The names that queries and dashboards for Unleash have.
              eventType: 'UnleashServiceEvent',
              unleashEventType: event.type,
              eventId: event.id,
              createdAt: Date.parse(event.createdAt),
              createdBy: event.createdBy,
              featureName: event.featureName ?? undefined,
              project: event.project ?? undefined,
              environment: event.environment ?? undefined,
              tags: tagsOfType(event, 'new-relic').join(',') || undefined,
              description: shortened(plainText(markdown), 4_000),
            })
          : renderTemplate(bodyTemplate, event, markdown),
    },
  ],

  otlp: ({ parameters: { url = '' }, event, id, markdown }) => [
    { url, headers: json, body: JSON.stringify(otlpLog(event, id, markdown)) },
  ],

  syslog: ({ parameters: { url = '', hostname }, event, id, markdown }) => [
    { url, headers: {}, body: syslogMessage(event, id, markdown, hostname) },
  ],

  email: ({ parameters, event, markdown, link = '' }) => {
    const { label = event.type, featureName } = event;
    const subject = `Flags: ${label}${featureName == null ? '' : `: ${shortened(featureName, 100)}`}`;
    return [mailMessage(parameters, subject, shortened(plainText(markdown), maxSentence), link)];
  },

  // A single event is one that is tried: what is selected comes in batches.
  s3: ({ parameters: { retentionDays: _unlocked, ...parameters }, event, id, markdown: _sentence }) => {
    const { id: from, createdAt } = event;
    const lines = [lineOf({ provider: 's3' }, { uid: id, hash: '', event })];
    const prefix = `${parameters['prefix'] ?? ''}/test`;
    const batch = { from, to: from, hash: '', startedAt: createdAt, endedAt: createdAt, lines };
    return [batchMessage({ provider: 's3', parameters: { ...parameters, prefix } }, batch, '', new Date(createdAt))];
  },
};

/** The channels of a Slack app for an event, as Slack's API takes them. */
export function slackChannels({ defaultChannels = '' }: Parameters, event: Event): readonly string[] {
  const listed = defaultChannels.split(',').flatMap((channel) => channel.trim() || []);
  return [...new Set([...tagsOfType(event, 'slack'), ...listed])].map((channel) =>
    /^[#@]|^[CG][A-Z0-9]{8,}$/.test(channel) ? channel : `#${channel}`,
  );
}

function withLink(text: string, link: string | undefined, write: (address: string) => string): string {
  return link === undefined ? text : `${text}\n${write(link)}`;
}

/** Where the event belongs, as names and values. */
function factsOf<Key extends 'name' | 'title'>(event: Event, key: Key) {
  const facts = { Project: event.project, Environment: event.environment, Feature: event.featureName };
  return Object.entries(facts).flatMap(([name, value]) =>
    value == null
      ? []
      : [{ [key]: name, value: shortened(value, 250) } as Record<Key, string> & { readonly value: string }],
  );
}

/** The page of the console with the event's flag, else its project, else the event log. */
function consoleLink({ project, featureName }: Event, publicUrl: string): string | undefined {
  if (publicUrl === '') return undefined;
  if (project == null) return `${publicUrl}/events`;
  const address = `${publicUrl}/projects/${encodeURIComponent(project)}`;
  return featureName == null ? address : `${address}/features/${encodeURIComponent(featureName)}`;
}

/**
 * The requests that tell a destination of an event; none if it has no channel for it.
 * @param id the id that the event has whenever it is sent
 * @param text the event as JSON text
 * @throws TemplateError if the template renders too much
 * @throws Error for a provider that this version does not know: a process of a later one delivers to it
 */
export function messagesFor(
  { provider, parameters }: { readonly provider: string; readonly parameters: Parameters },
  event: Event,
  id: string,
  publicUrl: string,
  text = JSON.stringify(event),
): readonly Message[] {
  const markdown = sentenceOf(event);
  const link = consoleLink(event, publicUrl);
  const custom = parseHeaders(parameters['customHeaders'] ?? '{}') as Readonly<Record<string, string>> | undefined;
  const build = builders[provider];
  if (build === undefined) throw new Error(`The provider ${provider} is not known.`);
  return build({ parameters, event, text, id, markdown, link }).map((message) => ({
    ...message,
    headers: { ...message.headers, ...lowerCased(custom ?? {}) },
  }));
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
