/** A response of the platform, and the milliseconds that the client measured. */
export interface ApiResponse<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** the JSON of the response; undefined when it has no body */
  readonly body: T;
  readonly text: string;
  readonly ms: number;
}

/**
 * Sends a request to the platform over HTTP, as an administrator. A body that is text or bytes is sent unchanged, any other as JSON; a
 * header that is null is not sent.
 */
export type Api = <T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string | null>>,
) => Promise<ApiResponse<T>>;

const bytesOf = (body: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  return Uint8Array.from(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
};

export const apiOf =
  (url: string, token: string): Api =>
  async <T>(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string | null>> = {}) => {
    const bytes = bytesOf(body);
    const requestHeaders = new Headers({ authorization: token });
    if (bytes !== undefined) requestHeaders.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) requestHeaders.delete(name);
      else requestHeaders.set(name, value);
    }
    const startedAt = performance.now();
    const response = await fetch(`${url}${path}`, {
      method,
      headers: requestHeaders,
      redirect: 'manual',
      ...(bytes === undefined ? {} : { body: bytes }),
    });
    const text = await response.text();
    const ms = performance.now() - startedAt;
    const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
    const parsed = (isJson && text !== '' ? JSON.parse(text) : undefined) as T;
    return { status: response.status, headers: response.headers, body: parsed, text, ms };
  };
