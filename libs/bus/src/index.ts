export type {
  CallerSignature,
  CallResponse,
  Bus,
  CallContext,
  IntegrationEvent,
  ReceivedContext,
  RefusalResponse,
  Reply,
  Subscription,
} from './bus.ts';
export { unknownOutcomeDelayMs } from './deadline.ts';
export { type CallRequest, call, callForResponse, callIfSupported, callsOf } from './call.ts';
export { systemContext } from './system-context.ts';
export { systemTraceparent, traceparentFrom } from './traceparent.ts';
export {
  type OperationRequest,
  requireAllEndpoints,
  type Endpoint,
  implement,
  reads,
  writes,
  JsonText,
  type JsonWithEntityTag,
  notModified,
} from './implement.ts';
export { inProcessBus } from './in-process-bus.ts';
export { natsBus, type NatsOptions } from './nats/nats-bus.ts';
export { type CallerKeys, callerSignatures, newCallerKeys } from './nats/caller-signatures.ts';
export { natsRightsOf } from './nats/nats-rights.ts';
export type { NatsAccess } from './nats/nats-connection.ts';
export type { IdempotentWrite } from './idempotent-write.ts';
export { onBehalfOf } from './on-behalf-of.ts';
export { isCheckedByEndpoint } from './permission-check-observer.ts';
export { openBus } from './open-bus.ts';
export { type IfMatch, unsupportedIfMatch } from './if-match.ts';
export { defectRefusal, deserializeRefusal, serializeRefusal } from './refusal-response.ts';
export { compatibilityCheckOfReadiness } from './contract-compatibility.ts';
export { serve, type ServedCall, type ServeOptions } from './serve.ts';
