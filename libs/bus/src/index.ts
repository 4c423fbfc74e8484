export type { Answer, Bus, CallContext, Fact, RefusedAnswer, Reply, Subscription } from './bus.ts';
export { type Ask, call, callForAnswer, systemContext, traceparentFrom } from './call.ts';
export { type Asked, type Endpoint, implement, JsonText } from './implement.ts';
export { inProcessBus } from './in-process.ts';
export { natsBus, type NatsOptions } from './nats.ts';
export type { Once } from './once.ts';
export { openBus } from './open-bus.ts';
export { defect, refusalOf, refusedWith } from './refused.ts';
export { serve, type Served, type ServeOptions } from './serve.ts';
