import { AwsV4Signer } from 'aws4fetch';
import { createHash } from 'node:crypto';
import type { Parameters } from '../addons/addon.ts';
import type { Message } from '../messages/request.ts';

/** A request to S3 with Signature Version 4 of now, and with the digest of its body that Object Lock asks for. */
export async function signForAws(message: Message, parameters: Parameters, now: Date): Promise<Message> {
  const { accessKeyId = '', secretAccessKey = '', region = 'us-east-1' } = parameters;
  const { method = 'POST', url, body } = message;
  const signer = new AwsV4Signer({
    method,
    url,
    headers: {
      ...message.headers,
      'content-md5': createHash('md5').update(body).digest('base64'),
      'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
    },
    body,
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    datetime: now.toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  return { ...message, headers: Object.fromEntries(signed.headers) };
}
