export { clientStream } from './client/client-stream.ts';
export { featurePollHandlers, fetchModePolicy } from './client/polls.ts';
export { preRoutingPollResponses } from './client/pre-routed-polls.ts';
export { segmentBlocksHandler } from './client/segment-blocks.ts';
export { type Delivery, deliveryOf } from './delivery.ts';
export { edgeFrontendHandlers, frontendHandlers } from './frontend.ts';
export { ofrepStream, streamTickets } from './ofrep/changes.ts';
export { ofrepHandlers } from './ofrep/evaluations.ts';
export type { SdkHandler } from './sdk-handler.ts';
export { deliveryStore, type StoreMessage } from './store/delivery-store.ts';
export { featureJson, featureText, type FeatureText } from './store/feature-entries.ts';
export { type FetchBlocks, type IdLists, idLists, type LoadedList, UnknownListError } from './store/id-lists.ts';
export { type SegmentLists, segmentLists } from './store/segment-lists.ts';
export {
  type DeliveryStreams,
  deliveryStreams,
  type StreamMetrics,
  streamMetrics,
  type StreamPermits,
  streamPermits,
} from './streams/delivery-streams.ts';
export { type DeliveryView, deliveryView } from './view/delivery-view.ts';
export { deliverySettings, type DeliverySettings } from './settings.ts';
