import { setTimeout as sleep } from 'node:timers/promises';

/** The failure of a request that the server refused, or of the last attempt to reach the server. */
export class ImportError extends Error {}

/** Sends a request, and retries temporary failures. */
export type SendRequest = <T>(method: 'GET' | 'POST', path: string, body?: unknown) => Promise<T>;

const retriedStatuses = new Set([408, 429, 502, 503, 504]);
const maxAttempts = 6;

interface ApiResponse {
  readonly status: number;
  readonly text: string;
  readonly waitMs: number | undefined;
}

const reasonsIn = (text: string): string => {
  try {
    const { message, details } = JSON.parse(text) as { message?: string; details?: { message: string }[] };
    const reasons = (details ?? []).map((detail) => detail.message).filter((reason) => reason !== message);
    return [message ?? text, ...reasons].join('\n  ');
  } catch {
    return text.slice(0, 500);
  }
};

/**
 * An API client that retries temporary failures.
 * @param initialBackoffMs the pause between the first attempt and the second; it doubles with each further attempt
 */
export const apiClient = (url: string, token: string, initialBackoffMs = 500): SendRequest => {
  const sendOnce = async (method: string, path: string, body: unknown): Promise<ApiResponse> => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: token, 'content-type': 'application/json' },
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const waitMs = Number.isFinite(seconds) ? Math.min(seconds, 30) * 1_000 : undefined;
    return { status: response.status, text: await response.text(), waitMs };
  };

  return async <T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      const response = await sendOnce(method, path, body).catch((error: unknown) => error as Error);
      if (!(response instanceof Error) && !retriedStatuses.has(response.status)) {
        if (response.status < 300) return (response.text === '' ? undefined : JSON.parse(response.text)) as T;
        throw new ImportError(`${method} ${path} was answered with ${response.status}: ${reasonsIn(response.text)}`);
      }
      if (attempt === maxAttempts) {
        const reason =
          response instanceof Error
            ? `got no response: ${String(response.cause ?? response.message)}`
            : `was answered with ${response.status}: ${reasonsIn(response.text)}`;
        throw new ImportError(`${method} ${new URL(path, url).href} ${reason}`);
      }
      await sleep((response instanceof Error ? undefined : response.waitMs) ?? initialBackoffMs * 2 ** (attempt - 1));
    }
  };
};
