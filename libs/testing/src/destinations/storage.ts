import { Sha256 } from '@aws-crypto/sha256-js';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const storageKey = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret/of+the-storage' };

export interface StoredObject {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  /** how often it was put */
  readonly puts: number;
}

type Refusal = { readonly status: number; readonly code: string };

const maxSkewMs = 900_000;

/** Why S3 refuses the signature of a request, with an implementation that is not the one under test; undefined if it does not. */
async function signatureFault(
  { method = '', url = '', headers }: IncomingMessage,
  body: Buffer,
): Promise<Refusal | undefined> {
  const [, accessKeyId, region = '', signedNames = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (accessKeyId !== storageKey.accessKeyId) return { status: 403, code: 'InvalidAccessKeyId' };
  const time = String(headers['x-amz-date']).replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5');
  if (!(Math.abs(Date.parse(time) - Date.now()) < maxSkewMs)) return { status: 403, code: 'RequestTimeTooSkewed' };
  if (headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex'))
    return { status: 400, code: 'XAmzContentSHA256Mismatch' };
  const signed = signedNames.split(';');
  const mustBeSigned = ['host', 'content-md5', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (!mustBeSigned.every((name) => headers[name] === undefined || signed.includes(name)))
    return { status: 403, code: 'AccessDenied' };
  const signer = new SignatureV4({
    credentials: storageKey,
    region,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const request = new HttpRequest({
    method,
    path: url,
    hostname: '127.0.0.1',
    headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
  });
  const expected = await signer.sign(request, { signingDate: new Date(time) });
  const isEqual = String(expected.headers['authorization']).endsWith(`Signature=${signature}`);
  return isEqual ? undefined : { status: 403, code: 'SignatureDoesNotMatch' };
}

/** Why S3 refuses to put an object; undefined if it does not. */
function objectFault(headers: IncomingHttpHeaders, body: Buffer): Refusal | undefined {
  const digest = headers['content-md5'];
  if (digest !== undefined && digest !== createHash('md5').update(body).digest('base64'))
    return { status: 400, code: 'BadDigest' };
  const [mode, until] = [headers['x-amz-object-lock-mode'], headers['x-amz-object-lock-retain-until-date']];
  if ((mode === undefined) !== (until === undefined)) return { status: 400, code: 'InvalidArgument' };
  if (mode === undefined) return undefined;
  if (digest === undefined) return { status: 400, code: 'InvalidRequest' };
  const isValid = ['GOVERNANCE', 'COMPLIANCE'].includes(String(mode)) && Date.parse(String(until)) > Date.now();
  return isValid ? undefined : { status: 400, code: 'InvalidArgument' };
}

/** An S3-compatible storage on this machine with one bucket in path style, which refuses what S3 refuses. */
export async function startStorage(bucket = 'flag-events') {
  const objects = new Map<string, StoredObject>();
  let refusal: Refusal | undefined;
  let isSilent = false;
  let attempts = 0;
  const answer = async (request: IncomingMessage, body: Buffer): Promise<Refusal | undefined> => {
    attempts++;
    const [, given, ...key] = (request.url ?? '').split('/');
    if (request.method !== 'PUT' || given !== bucket) return { status: 404, code: 'NoSuchBucket' };
    const fault = refusal ?? (await signatureFault(request, body)) ?? objectFault(request.headers, body);
    if (fault !== undefined) return fault;
    const name = key.join('/');
    const { puts } = objects.get(name) ?? { puts: 0 };
    objects.set(name, { body: body.toString('utf8'), headers: request.headers, puts: puts + 1 });
    return undefined;
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(request, Buffer.concat(chunks)).then((fault) => {
        if (isSilent) return request.destroy();
        return fault === undefined
          ? response.writeHead(200).end()
          : response
              .writeHead(fault.status, { 'content-type': 'application/xml' })
              .end(`<Error><Code>${fault.code}</Code></Error>`);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    attempts: () => attempts,
    /** Refuses everything until it is called without a reason. */
    refuse: (next?: Refusal): void => void (refusal = next),
    /** Stores what it gets, and closes the connection without a response. */
    beSilent: (next: boolean): void => void (isSilent = next),
    reset: (): void => {
      objects.clear();
      attempts = 0;
      refusal = undefined;
      isSilent = false;
    },
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type Storage = Awaited<ReturnType<typeof startStorage>>;
