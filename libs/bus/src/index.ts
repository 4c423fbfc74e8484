export type {
  Bus,
  CallContext,
  CallerSignature,
  CallResponse,
  IntegrationEvent,
  ReceivedContext,
  RefusalResponse,
  Reply,
  Subscription,
} from './bus.ts';
export {
  call,
  callForResponse,
  callIfSupported,
  type CallRequest,
  callsOf,
  onBehalfOf,
  systemContext,
  systemTraceparent,
  traceparentFrom,
} from './call.ts';
export { type IdempotentWrite, type IfMatch, unsupportedIfMatch } from './conditional-requests.ts';
export { unknownOutcomeDelayMs } from './deadline.ts';
export {
  type Endpoint,
  implement,
  reads,
  writes,
  JsonText,
  notModified,
  type OperationRequest,
  requireAllEndpoints,
} from './implement.ts';
export { inProcessBus } from './in-process-bus.ts';
export { type CallerKeys, callerSignatures, newCallerKeys } from './nats/caller-signatures.ts';
export type { NatsOptions } from './nats/nats-bus.ts';
export type { NatsAccess } from './nats/nats-connection.ts';
export { openBus } from './open-bus.ts';
export { compatibilityCheckOfReadiness } from './presence.ts';
export { defectRefusal, deserializeRefusal, serializeRefusal } from './refusals.ts';
export { isCheckedByEndpoint, serve, type ServedCall, type ServeOptions } from './serve.ts';
