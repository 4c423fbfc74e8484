export {
  admission,
  type Admit,
  type AdmitBeforeRouting,
  anonymousRateLimit,
  type AuthenticateAgain,
  publicAdmission,
} from './admission/admission.ts';
export {
  concurrencyLimit,
  type ConcurrentRequestLimits,
  concurrentRequestLimits,
  type Quota,
  type QuotaClient,
} from './admission/concurrent-requests.ts';
export {
  type Asker,
  type Authenticate,
  type CredentialHeaders,
  type Principal,
  requireAdminApiAccess,
  requirePermission,
} from './admission/principal.ts';
export { rateLimiter, type RateLimitStatus, requireWithinRateLimit } from './admission/rate-limit.ts';
export { type UnreadResponses, unreadResponses } from './admission/unread-responses.ts';
export {
  addVary,
  closeAfterEarlyResponse,
  httpStatusOf,
  jsonContentType,
  ofrepErrorOf,
  sendRefusal,
} from './errors.ts';
export { mountHealth, mountMetrics } from './monitoring.ts';
export {
  httpStopTimeoutMs,
  listen,
  maxConnections,
  removeForwardedPorts,
  requireAvailableAddress,
  type ServerCertificate,
} from './node-server.ts';
export type { PreRoutingContent, PreRoutingResponse, RespondBeforeRouting } from './pre-routing.ts';
export {
  ordinaryJsonLimits,
  parseUntrustedJson,
  readBody,
  RequestAborted,
  requireContentLengthWithin,
} from './request/body.ts';
export { clientNetwork, isPathBelow, withoutBasePath } from './request/head.ts';
export {
  operationRequestReader,
  paramsParser,
  type ParsedOperationRequest,
  formContentType,
  queryAndHeadersParser,
  queryParser,
  requireJsonContentType,
} from './request/request.ts';
export {
  acceptedEncoding,
  compress,
  type Encoding,
  entityTagSuffixOf,
  type GzipPart,
  gzipPart,
  gzipWindow,
  joinGzip,
  jsonEncodingFor,
  minCompressedLength,
  setEncoding,
  withoutEntityTagSuffix,
} from './response/compression.ts';
export {
  entityTagOf,
  entityTagsPattern,
  idempotencyKeyPattern,
  isNotModified,
  matchingClientEntityTag,
  parseIfMatch,
  parseIfNoneMatch,
  requireConditionsSupported,
  requireCurrentTag,
} from './response/entity-tags.ts';
export { splitCommaSeparated } from './response/headers.ts';
export { createHttpServer } from './server.ts';
export { httpSettings, type HttpSettings } from './settings.ts';
