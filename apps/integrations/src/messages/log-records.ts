import { type Event, invalid } from '@bunting/contracts';
import type { Parameters } from '../addons/addon.ts';
import { plainText, shortened } from './markdown.ts';

/** The maximum number of characters of the sentence, and of each name, in a record. */
const maxSentence = 4_000;
const maxSyslogSentence = 1_000;
const maxSyslogName = 250;

/** What an event is about and who did it: the names of OpenTelemetry, those in syslog, and the values. */
function factsOf(
  event: Event,
  id: string,
): readonly (readonly [attribute: string, parameter: string, value: string])[] {
  const { createdByUserId: userId } = event;
  const facts = [
    ['log.record.uid', 'uid', id],
    ['bunting.event.id', 'id', String(event.id)],
    ['bunting.event.type', 'type', event.type],
    ['bunting.project', 'project', event.project],
    ['bunting.environment', 'environment', event.environment],
    ['feature_flag.key', 'flag', event.featureName],
    ['user.name', 'user', event.createdBy],
    ['user.id', 'userId', userId == null ? undefined : String(userId)],
  ] as const;
  return facts.flatMap(([attribute, parameter, value]) => (value == null ? [] : [[attribute, parameter, value]]));
}

/**
 * The request of a logs exporter with one record: the sentence as its body, and the event as JSON in `bunting.event`.
 * Source: OTLP 1.5 in its JSON encoding, in which 64-bit integers are texts.
 */
export function otlpLog(event: Event, id: string, markdown: string): object {
  const time = `${Date.parse(event.createdAt)}000000`;
  const attributes = [
    ...factsOf(event, id).map(([name, , value]) => attribute(name, value)),
    attribute('bunting.event', JSON.stringify(event)),
  ];
  return {
    resourceLogs: [
      {
        resource: { attributes: [attribute('service.name', 'bunting')] },
        scopeLogs: [
          {
            scope: { name: 'bunting.events' },
            logRecords: [
              {
                timeUnixNano: time,
                observedTimeUnixNano: time,
                severityNumber: 9,
                severityText: 'INFO',
                eventName: `bunting.${event.type}`,
                body: { stringValue: shortened(plainText(markdown), maxSentence) },
                attributes,
              },
            ],
          },
        ],
      },
    ],
  };
}

function attribute(key: string, stringValue: string) {
  return { key, value: { stringValue } };
}

/** The facility "log audit" with the severity "notice" (RFC 5424, 6.2.1). */
const priority = 13 * 8 + 5;
/** The private enterprise number that is reserved for examples (RFC 5612): Bunting has none of its own. */
const structuredDataId = 'event@32473';
const maxMessageId = 32;
const hostnamePattern = /^[\x21-\x7e]{1,255}$/;

/** @throws Refusal `ValidationError` if the host name would make no valid record */
export function requireValidHostname({ hostname }: Parameters): void {
  if (hostname === undefined || hostnamePattern.test(hostname)) return;
  const path = '/body/parameters/hostname';
  throw invalid(`The \`${path}\` property must have 1 to 255 visible characters of ASCII.`, path);
}

/**
 * The record of an event, as RFC 5424 says: what it is about as structured data, and the sentence as its text. It takes at most 8 kB, which
 * receivers should be able to process (RFC 5425, 4.3.1).
 */
export function syslogMessage(event: Event, id: string, markdown: string, hostname = '-'): string {
  const parameters = factsOf(event, id).map(
    ([, name, value]) => `${name}="${escaped(shortened(value, maxSyslogName))}"`,
  );
  const text = withoutControls(shortened(plainText(markdown), maxSyslogSentence));
  const header = `<${priority}>1 ${event.createdAt} ${hostname} bunting - ${event.type.slice(0, maxMessageId)}`;
  return `${header} [${structuredDataId} ${parameters.join(' ')}] \uFEFF${text}`;
}

function withoutControls(text: string): string {
  // A line break would begin another record for receivers that split by lines.
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').toWellFormed();
}

function escaped(value: string): string {
  return withoutControls(value).replaceAll(/["\\\]]/g, String.raw`\$&`);
}
