import { startTracing, type Tracing } from '@bunting/tracing';
import type { Logger } from '../monitoring/log.ts';
import type { ProcessEnvironment } from '../settings/read-config.ts';
import { tracingSettings, type tracingOptions } from '../settings/tracing-settings.ts';

/** The variables of OpenTelemetry that are set and have no effect. */
const ignoredVariables = (environment: ProcessEnvironment): string[] =>
  Object.entries(environment).flatMap(([key, value]) =>
    key.startsWith('OTEL_') && (value ?? '') !== '' && !Object.hasOwn(tracingSettings, key.replace(/_FILE$/, ''))
      ? [key]
      : [],
  );

/** Starts the export of spans if there are options, and warns of variables of OpenTelemetry that have no effect. */
export const traceProcess = async (
  options: ReturnType<typeof tracingOptions>,
  environment: ProcessEnvironment,
  log: Logger,
): Promise<Tracing | undefined> => {
  // Without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is traced. Then only the variable of another endpoint is a mistake: it was set to trace.
  const ignored = ignoredVariables(environment).filter((key) => options !== undefined || key.endsWith('_ENDPOINT'));
  if (ignored.length > 0)
    log.warn(
      `Tracing: ${ignored.join(', ')} is set and has no effect. docs/settings.md lists the variables that are read.`,
    );
  if (options === undefined) return undefined;
  return startTracing({ ...options, warn: (message) => log.warn(message) });
};
