import { type Refusal, refusal } from '@bunting/contracts';
import type { IncomingHttpHeaders } from 'node:http';

const jsonType = 'application/json';
const utf8 = new Set(['utf-8', 'utf8', 'us-ascii']);

const notAccepted = (contentType: string | undefined): Refusal => {
  const received =
    contentType === undefined ? "you didn't provide one" : contentType.slice(0, 100).replace(/[^ -~]/g, '?');
  return refusal(
    'ContentTypeerror',
    `We do not accept the content-type you provided (${received}). Try using one of the content-types we do accept instead (${jsonType}) and make sure the body is in the corresponding format.`,
  );
};

const isJson = (contentType: string): boolean => {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== jsonType) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || utf8.has(value.trim().replace(/^"(.*)"$/, '$1'));
  });
};

/**
 * Refuses by its headers every body but uncompressed JSON in UTF-8. @throws Refusal `ContentTypeerror`, a 415
 * @param mayBeMissing whether a request may have no content type: it has no body, or one that is read as JSON
 */
export const requireJsonContentType = (headers: IncomingHttpHeaders, mayBeMissing: boolean): void => {
  const contentType = headers['content-type'];
  // The fast path: nearly every request with a body has exactly this header.
  if (contentType !== jsonType) {
    if (contentType === undefined ? !mayBeMissing : !isJson(contentType)) throw notAccepted(contentType);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw refusal(
      'ContentTypeerror',
      'We do not accept compressed bodies. Send the body as it is, without a content-encoding.',
    );
  }
};
