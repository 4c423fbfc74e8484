import { jsonOf, lengthOf } from './chat-providers.ts';
import { Fault, type Provider } from './http-destination.ts';

type Json = Readonly<Record<string, unknown>>;

/** The events of Datadog (`POST /api/v1/events`). */
export function datadogEvents({ apiKey }: { readonly apiKey: string }): Provider {
  const refused = (status: number) => (why: string) =>
    new Fault(why, { status, body: JSON.stringify({ errors: [status === 403 ? 'Forbidden' : why] }) });
  return {
    accept: (request) => {
      if (request.headers['dd-api-key'] !== apiKey) throw refused(403)('the key is another one');
      const { title, text, tags = [] } = jsonOf(request, refused(400));
      if (lengthOf(title) === 0 || lengthOf(title) > 100) throw refused(400)('the title has 1 to 100 characters');
      if (lengthOf(text) === 0 || lengthOf(text) > 4_000) throw refused(400)('the text has 1 to 4000 characters');
      if (!Array.isArray(tags) || tags.some((tag) => typeof tag !== 'string')) throw refused(400)('tags are texts');
      return { status: 202, body: JSON.stringify({ status: 'ok', event: { id: 1, title } }) };
    },
    tooMany: { status: 429, headers: { 'x-ratelimit-reset': '10' }, body: '{"errors":["Too many requests"]}' },
  };
}

/** The Event API of New Relic, with its requirements and limits for custom events. */
export function newRelicEvents({ licenseKey }: { readonly licenseKey: string }): Provider {
  const refused = (status: number) => (why: string) => new Fault(why, { status, body: JSON.stringify({ error: why }) });
  return {
    accept: (request) => {
      if (request.headers['api-key'] !== licenseKey) throw refused(403)('the key is another one');
      if (Buffer.byteLength(request.body) > 1_000_000) throw refused(413)('the events have more than 1 MB');
      const { eventType, ...attributes } = jsonOf(request, refused(400));
      if (!/^[A-Za-z0-9:_ ]{1,255}$/.test(String(eventType))) throw refused(400)('the event type is not valid');
      if (Object.keys(attributes).length > 254) throw refused(400)('there are more than 254 attributes');
      for (const [name, value] of Object.entries(attributes)) {
        if (name.length > 255) throw refused(400)('the name of an attribute is too long');
        // New Relic stores no nulls, and drops what it cannot store without saying so.
        if (typeof value !== 'string' && typeof value !== 'number') throw refused(400)(`${name} is no text or number`);
        if (lengthOf(value) > 4_096) throw refused(400)(`${name} has more than 4096 characters`);
      }
      return { status: 200, body: '{"success":true,"uuid":"00000000-0000-0000-0000-000000000000"}' };
    },
    tooMany: { status: 429, headers: { 'retry-after': '60' } },
  };
}

const valueKinds = ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'];
const isValue = (value: unknown): boolean => {
  const keys = Object.keys((value ?? {}) as Json);
  return keys.length === 1 && valueKinds.includes(keys[0] as string);
};
const isTime = (value: unknown): boolean => typeof value === 'string' && /^[1-9]\d{15,19}$/.test(value);

function faultOfAttributes(attributes: unknown): string | undefined {
  const pairs = (attributes ?? []) as { readonly key: string; readonly value: unknown }[];
  if (!pairs.every(({ key, value }) => lengthOf(key) > 0 && isValue(value))) return 'an attribute is not valid';
  return new Set(pairs.map(({ key }) => key)).size === pairs.length ? undefined : 'an attribute comes twice';
}

function faultOfRecord(record: Json): string | undefined {
  const { timeUnixNano, observedTimeUnixNano, severityNumber, body, attributes } = record;
  // 64-bit integers are texts in the JSON encoding.
  if (![timeUnixNano, observedTimeUnixNano].every((time) => time === undefined || isTime(time)))
    return 'a time is no text with nanoseconds';
  if (!Number.isInteger(severityNumber) || (severityNumber as number) < 0 || (severityNumber as number) > 24)
    return 'a severity is from 0 to 24';
  if (body !== undefined && !isValue(body)) return 'a body is no value';
  return faultOfAttributes(attributes);
}

/** A receiver of logs by OTLP over HTTP in JSON, as a collector of OpenTelemetry has it. */
export function otlpLogs(): Provider {
  const refused = (why: string) => new Fault(why, { status: 400, body: JSON.stringify({ code: 3, message: why }) });
  return {
    accept: (request) => {
      const { resourceLogs } = jsonOf(request, refused);
      if (!Array.isArray(resourceLogs) || resourceLogs.length === 0) throw refused('there are no logs of a resource');
      for (const { resource, scopeLogs } of resourceLogs as { resource: Json; scopeLogs: { logRecords: Json[] }[] }[]) {
        const fault =
          faultOfAttributes(resource['attributes']) ??
          scopeLogs.flatMap(({ logRecords }) => logRecords.flatMap((record) => faultOfRecord(record) ?? []))[0];
        if (fault !== undefined) throw refused(fault);
      }
      return { status: 200, headers: { 'content-type': 'application/json' }, body: '{"partialSuccess":{}}' };
    },
    tooMany: { status: 503, headers: { 'retry-after': '5' } },
  };
}
