export type { CallResponse, Bus, CallContext, StreamEvent, RefusalResponse, Reply, Subscription } from './bus.ts';
export { unknownOutcomeDelayMs } from './deadline.ts';
export {
  type CallRequest,
  call,
  callForResponse,
  callIfSupported,
  systemContext,
  systemTraceparent,
  traceparentFrom,
} from './call.ts';
export {
  type OperationRequest,
  completeEndpoints,
  type Endpoint,
  implement,
  JsonText,
  notModified,
} from './implement.ts';
export { inProcessBus } from './in-process.ts';
export { natsBus, type NatsOptions } from './nats/nats.ts';
export type { NatsAccess } from './nats/nats-connection.ts';
export type { IdempotentWrite } from './idempotent-write.ts';
export { onBehalfOf } from './on-behalf-of.ts';
export { openBus } from './open-bus.ts';
export { type IfMatch, requireMatch } from './precondition.ts';
export { internalError, refusalFrom, refusalResponse } from './refusal-response.ts';
export { compatibilityCheck } from './presence.ts';
export { serve, type ServedCall, type ServeOptions } from './serve.ts';
