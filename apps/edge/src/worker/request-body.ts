import type { FrontendBody, OfrepEvaluationBody } from '@bunting/contracts';
import { Refused } from './responses.ts';

/** What OpenFeature clients and SDKs send is far shorter. */
const maxBodyLength = 256 * 1024;

/** @throws Refused where it is longer than `maxBodyLength`, or no JSON object */
export async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > maxBodyLength) throw new Refused('PayloadTooLarge', `A body has at most ${maxBodyLength} bytes.`);
    text += decoder.decode(piece, { stream: true });
  }
  try {
    const body: unknown = JSON.parse(text + decoder.decode());
    if (typeof body === 'object' && body !== null && !Array.isArray(body))
      return body as Readonly<Record<string, unknown>>;
  } catch {
    // Refused below.
  }
  throw new Refused('ValidationError', 'The body is no JSON object.', 'PARSE_ERROR');
}

/** The body of an evaluation. @throws Refused where its context is no object */
export async function evaluationBodyOf(request: Request): Promise<FrontendBody & OfrepEvaluationBody> {
  const body = await bodyOf(request);
  const { context } = body;
  if (context !== undefined && (typeof context !== 'object' || Array.isArray(context)))
    throw new Refused('ValidationError', 'The context is no object.', 'INVALID_CONTEXT');
  return body;
}
