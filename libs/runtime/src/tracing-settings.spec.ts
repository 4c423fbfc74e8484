import { describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { host } from './host.ts';
import { openLog } from './log.ts';

/** Hosts no services with these settings, and returns the log. */
const logWith = async (environment: Readonly<Record<string, string>>): Promise<string> => {
  const lines: string[] = [];
  const log = openLog('info', { write: (line) => void lines.push(line) });
  await (await host([], { environment, log })).stop();
  return lines.join('');
};

/** The packages of OpenTelemetry that a process has loaded when it hosts with these settings. */
const loadedWith = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ resolve: (name, context, next) => {
      const [, sdk] = /^(@opentelemetry\\/(?!api$)[^/]+)/.exec(name) ?? [];
      if (sdk !== undefined) loaded.add(sdk);
      return next(name, context);
    } });
    const { host } = await import(${JSON.stringify(path.join(import.meta.dirname, 'host.ts'))});
    await (await host([], { environment: ${JSON.stringify(environment)} })).stop();
    console.log(JSON.stringify([...loaded]));`;
  const args = ['--no-warnings', '--input-type=module', '--eval', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[];
};

const endpoint = 'http://127.0.0.1:9';

describe('tracing', () => {
  it('loads OpenTelemetry only with OTEL_EXPORTER_OTLP_ENDPOINT, and not with OTEL_SDK_DISABLED', () => {
    expect(loadedWith({ OTEL_TRACES_SAMPLER: 'always_on' })).toEqual([]);
    expect(loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([]);
    expect(loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toContain('@opentelemetry/sdk-trace');
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /OTEL_EXPORTER_OTLP_PROTOCOL is not valid \(.*not supported\)/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', /OTEL_EXPORTER_OTLP_ENDPOINT is not valid \(URL/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:canary@collector', /OTEL_EXPORTER_OTLP_ENDPOINT is not valid/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'canary', /OTEL_EXPORTER_OTLP_HEADERS is not valid: it must be a list/],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team=%canary', /OTEL_RESOURCE_ATTRIBUTES is not valid: it must be a list/],
    [
      'OTEL_EXPORTER_OTLP_CERTIFICATE',
      '/nowhere/canary',
      /OTEL_EXPORTER_OTLP_CERTIFICATE names cannot be read \(ENOENT/,
    ],
    ['OTEL_TRACES_SAMPLER', 'xray', /OTEL_TRACES_SAMPLER is not valid/],
    ['OTEL_TRACES_SAMPLER_ARG', '2', /OTEL_TRACES_SAMPLER_ARG is not valid/],
  ])('refuses to start with a wrong %s (%s), and quotes no value', async (setting, value, message) => {
    const starting = logWith({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, [setting]: value });
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.not.toThrow(/canary/);
  });

  it('warns of variables of OpenTelemetry that have no effect: of all while spans are exported, and always of endpoints', async () => {
    const ignored = { OTEL_PROPAGATORS: 'b3', OTEL_EXPORTER_OTLP_HEADERS_FILE: '' };
    expect(await logWith({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...ignored })).toMatch(
      /"warn".*OTEL_PROPAGATORS is set and has no effect/,
    );
    expect(await logWith(ignored)).not.toMatch(/OTEL_PROPAGATORS/);
    expect(await logWith({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint })).toMatch(
      /TRACES_ENDPOINT is set and has no/,
    );
  });
});
