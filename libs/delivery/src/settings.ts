import { type Static, type TObject, Type } from 'typebox';

/** The settings of the delivery to SDKs, which gateways and edges have under the same names. */
export const deliverySettings = {
  GATEWAY_DELIVERY_CACHE_MIB: Type.Integer({
    minimum: 1,
    default: 128,
    description:
      'MiB of responses to SDKs that each gateway caches, and a quarter as much for evaluations of all features; the least recently used are evicted',
  }),
  GATEWAY_MAX_LIST_IDS_TO_SDKS: Type.Integer({
    minimum: 0,
    maximum: 100_000,
    default: 10_000,
    description:
      'maximum number of ids of the list of a segment that server SDKs get, as a constraint of the segment; to them a segment with a longer list matches nobody',
  }),
  GATEWAY_MAX_STREAM_SECONDS: Type.Integer({
    minimum: 1,
    default: 3_600,
    description:
      'seconds after which a stream ends, streams to SDKs up to a fifth earlier; the client resumes after the last id',
  }),
  GATEWAY_SDK_FETCH_MODE: Type.Enum(['as-requested', 'polling', 'streaming'], {
    default: 'as-requested',
    description:
      'how SDKs that announce support for it get changes: as they request, or sent to polling or to streaming by the gateway',
  }),
  GATEWAY_STREAM_KEEP_ALIVE_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 30,
    default: 25,
    description:
      'seconds between comments that keep an idle stream to an SDK open; SDKs give up one that is silent for 60 s',
  }),
  GATEWAY_MAX_SDK_STREAMS: Type.Integer({
    minimum: 0,
    default: 10_000,
    description: 'maximum concurrent streams to SDKs, per gateway; 429 beyond, on which SDKs poll',
  }),
  GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: Type.Integer({
    minimum: 0,
    default: 5_000,
    description: 'of these, those of one token; for frontend tokens, those of one address; 429 beyond',
  }),
};
export type DeliverySettings = Static<TObject<typeof deliverySettings>>;
