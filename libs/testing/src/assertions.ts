import { setTimeout as sleep } from 'node:timers/promises';

const firstPauseMs = 10;
/** The pauses grow up to the first of these, and in a long wait with its length up to the second, so that waiting takes little CPU. */
const maxPauseMs = { short: 100, long: 500 };

/**
 * Retries an assertion until it passes, and resolves with its result. After the timeout it rejects with the last error. The default is so
 * long that only a defect exceeds it, however busy the machine.
 */
export async function eventually<T>(assertion: () => T | Promise<T>, { timeoutMs = 60_000 } = {}): Promise<T> {
  const startedAt = performance.now();
  for (let pauseMs = firstPauseMs; ;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() - startedAt >= timeoutMs) throw error;
    }
    await sleep(pauseMs);
    const longest = Math.max(maxPauseMs.short, Math.min((performance.now() - startedAt) / 8, maxPauseMs.long));
    pauseMs = Math.min(pauseMs * 1.5, longest);
  }
}

/** A JSON schema, as those of contracts are. */
type Schema = object;

/** The smallest value that satisfies a JSON schema of the contracts, whose formats and patterns it ignores. */
export function leastOf(schema: Schema): unknown {
  const {
    type,
    enum: among,
    properties,
    required = [],
    anyOf,
    minItems = 0,
    items,
    minimum = 1,
  } = schema as {
    type?: string;
    enum?: unknown[];
    properties?: Record<string, Schema>;
    required?: string[];
    anyOf?: Schema[];
    minItems?: number;
    items?: Schema;
    minimum?: number;
  };
  if (among !== undefined) return among[0];
  if (anyOf !== undefined) return leastOf(anyOf[0] as Schema);
  if (properties !== undefined)
    return Object.fromEntries(required.map((key) => [key, leastOf(properties[key] as Schema)]));
  if (type === 'array') return Array.from({ length: minItems }, () => leastOf(items as Schema));
  if (type === 'integer' || type === 'number') return minimum;
  if (type === 'boolean') return true;
  return type === 'string' ? 'x' : {};
}

/** A log that records its messages by level. */
export function recordingLog() {
  const warnings: string[] = [];
  const errors: string[] = [];
  // As in pino, the message is the only argument, or follows an object.
  const recorderOf =
    (messages: string[]) =>
    (...line: unknown[]) =>
      void messages.push(String(line.at(-1)));
  return { warnings, errors, log: { warn: recorderOf(warnings), error: recorderOf(errors) } };
}

/** Settings with which reads wait for the writes before them, however busy the machine is, and are not marked as stale instead. */
export const longFreshnessTimeouts = {
  SEARCH_FRESHNESS_WAIT_MS: '30000',
  AUDIT_FRESHNESS_WAIT_MS: '30000',
  GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: '30000',
  GATEWAY_PROJECTS_WAIT_TIMEOUT_MS: '30000',
};
