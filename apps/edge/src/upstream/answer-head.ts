import { staleHeader } from '@bunting/contracts';
import { OriginError } from './origin-error.ts';

/** The head of an answer, whatever has fetched it. */
export interface AnswerHead {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
}

const maxRetryAfterMs = 5 * 60_000;

/** The pause that an answer asks for in `Retry-After`, at most five minutes; undefined if it asks for none. */
function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), maxRetryAfterMs);
}

/** Milliseconds since the origin last knew its data to be current; 0 where it is. */
export function staleMsOf({ headers }: AnswerHead): number {
  const text = headers.get(staleHeader) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

export function isJson({ headers }: AnswerHead): boolean {
  return /^application\/(?:[^;]*\+)?json\b/i.test(headers.get('content-type') ?? '');
}

/** The faults of statuses. 401 and 403 in anything but JSON are those of something in front of the origin, and refuse no token. */
export function faultOf(response: AnswerHead): OriginError | undefined {
  const { status, headers } = response;
  if (response.ok || status === 304) return undefined;
  if (status >= 300 && status < 400)
    return new OriginError(
      'failing',
      `it redirects to ${headers.get('location') ?? 'nowhere'}, where no token is sent`,
    );
  if ((status === 401 || status === 403) && isJson(response))
    return new OriginError('refused', `it answers ${status}`, { status });
  if ([404, 405, 406, 415, 501].includes(status)) return new OriginError('unsupported', `it answers ${status}`);
  const pauseMs = retryAfterMs(headers.get('retry-after'), Date.now());
  return new OriginError('failing', `it answers ${status}`, { status, retryAfterMs: pauseMs });
}
