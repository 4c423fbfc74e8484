import { samplerNames } from '@bunting/tracing';
import { readFileSync } from 'node:fs';
import { type Static, type TObject, Type } from 'typebox';
import { ConfigError } from './read-config.ts';

/** The variables of OpenTelemetry that every process reads. Their names and meanings are those of its specification. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://[^@]+$',
      description:
        'URL that spans are sent to by OTLP over HTTP, below `/v1/traces`, e.g. `http://collector:4318`; without it nothing is traced',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    Type.String({
      mayHoldSecret: true,
      description: 'headers of these requests, as `name=value,name=value` with values percent-encoded',
    }),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: Type.Enum(['http/protobuf'], {
    default: 'http/protobuf',
    description: 'how spans are sent; `grpc` and `http/json` are not supported',
  }),
  OTEL_EXPORTER_OTLP_COMPRESSION: Type.Enum(['none', 'gzip'], {
    default: 'none',
    description: 'compression of these requests',
  }),
  OTEL_EXPORTER_OTLP_CERTIFICATE: Type.Optional(
    Type.String({ description: 'PEM file with the certificates that the receiver is verified with' }),
  ),
  OTEL_EXPORTER_OTLP_TIMEOUT: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: 10_000,
    description: 'milliseconds that sending a batch of spans may take, with its retries',
  }),
  OTEL_BSP_MAX_QUEUE_SIZE: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 2_048,
    description: 'maximum spans that wait to be sent; further ones are dropped and counted',
  }),
  OTEL_BSP_SCHEDULE_DELAY: Type.Integer({
    minimum: 10,
    maximum: 60_000,
    default: 5_000,
    description: 'milliseconds between two batches of spans',
  }),
  OTEL_SERVICE_NAME: Type.Optional(
    Type.String({
      minLength: 1,
      description: '`service.name` of the spans; by default `bunting-<service>`, and `bunting` for all in one process',
    }),
  ),
  OTEL_RESOURCE_ATTRIBUTES: Type.Optional(
    Type.String({
      description:
        'attributes of the process on all its spans, as `name=value,name=value` with values percent-encoded, e.g. `deployment.environment.name=production`',
    }),
  ),
  OTEL_TRACES_SAMPLER: Type.Enum([...samplerNames], {
    default: 'parentbased_always_on',
    description: 'which traces are recorded',
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    description: 'the share of traces that a sampler by ratio records',
  }),
  OTEL_SDK_DISABLED: Type.Boolean({ default: false, description: 'whether tracing is off all the same' }),
};
type TracingSettings = Static<TObject<typeof tracingSettings>>;

/** Parses a list like `a=1,b=%20`. @throws ConfigError that names the setting and no value */
function parsePairs(setting: string, list = ''): Record<string, string> {
  return Object.fromEntries(
    list.split(',').flatMap((pair) => {
      if (pair.trim() === '') return [];
      const separatorIndex = pair.indexOf('=');
      try {
        const [name, value] = [
          pair.slice(0, separatorIndex).trim(),
          decodeURIComponent(pair.slice(separatorIndex + 1).trim()),
        ];
        if (separatorIndex > 0 && name !== '') return [[name, value]];
      } catch {
        // The message must not quote what may be a secret.
      }
      throw new ConfigError(`${setting} is not valid: it must be a list like name=value,name=value, percent-encoded.`);
    }),
  );
}

function certificateOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `The file that OTEL_EXPORTER_OTLP_CERTIFICATE names cannot be read (${code}). Correct the path.`,
    );
  }
}

/** The options of `startTracing`; undefined when nothing is traced. @throws ConfigError for lists and files that cannot be read */
export function tracingOptions(settings: TracingSettings, defaultServiceName: string, version: string) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: isDisabled } = settings;
  if (endpoint === undefined || isDisabled) return undefined;
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: parsePairs('OTEL_EXPORTER_OTLP_HEADERS', settings.OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMs: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    compression: settings.OTEL_EXPORTER_OTLP_COMPRESSION as 'none' | 'gzip',
    certificate: certificateOf(settings.OTEL_EXPORTER_OTLP_CERTIFICATE),
    maxQueued: settings.OTEL_BSP_MAX_QUEUE_SIZE,
    delayMs: settings.OTEL_BSP_SCHEDULE_DELAY,
    sampler: settings.OTEL_TRACES_SAMPLER,
    ratio: settings.OTEL_TRACES_SAMPLER_ARG,
    resource: {
      'service.name': defaultServiceName,
      'service.version': version,
      ...parsePairs('OTEL_RESOURCE_ATTRIBUTES', settings.OTEL_RESOURCE_ATTRIBUTES),
      ...(settings.OTEL_SERVICE_NAME === undefined ? {} : { 'service.name': settings.OTEL_SERVICE_NAME }),
    },
  };
}
