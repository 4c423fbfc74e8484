import { hash } from 'node:crypto';
import { expect } from 'vitest';
import {
  AddSegmentIds,
  CreateSegment,
  DeleteSegment,
  ListSegments,
  RemoveSegmentIds,
  ReplaceSegmentList,
  SetStrategySegments,
  UpdateSegment,
} from '@bunting/contracts';
import { type CatalogueRow, inOrder, send, sendComputed, type Step } from '../event-catalogue.ts';
import type { StartedFeatures } from '../started-features.ts';
import { developmentEvent, inShop, segmentNamed, storedFeatures, strategy, strategyId } from './fixtures.ts';

const segmentId = async (features: StartedFeatures, name: string): Promise<number> => {
  const { segments } = await features.call(ListSegments, {});
  return segments.find((segment) => segment.name === name)?.id ?? 0;
};

const createSegment = (name: string): Step => send(CreateSegment, { body: { name, project: 'shop', constraints: [] } });

/** The name of an upload without ids. */
const nothing = { upload: '0'.repeat(32), pieces: 0, received: 0, bytes: 0, hash: hash('sha256', '') };
const emptyList = { list: { contextName: 'userId', size: 0, version: 2 } };

const onList = (
  operation: typeof ReplaceSegmentList | typeof AddSegmentIds | typeof RemoveSegmentIds,
  name: string,
  body: typeof nothing | null,
): Step =>
  sendComputed(operation as typeof RemoveSegmentIds, async (features) => ({
    params: { id: await segmentId(features, name) },
    query: body === null ? { all: true } : { contextName: 'userId' },
    body,
  }));

export const segmentRows: readonly CatalogueRow[] = [
  ...([ReplaceSegmentList, AddSegmentIds] as const).map((operation): CatalogueRow => ({
    write: `giving a segment a list with ${operation.operationId}`,
    given: createSegment(`listed by ${operation.operationId}`),
    request: onList(operation, `listed by ${operation.operationId}`, nothing),
    emits: [
      {
        type: 'segment-updated',
        ...inShop,
        preData: segmentNamed(`listed by ${operation.operationId}`),
        data: {
          ...segmentNamed(`listed by ${operation.operationId}`),
          ...emptyList,
          listChange: { added: 0, removed: 0 },
        },
      },
    ],
    repeated: 'emits nothing',
  })),
  {
    write: 'removing the list of a segment',
    given: inOrder(createSegment('unlisted'), onList(ReplaceSegmentList, 'unlisted', nothing)),
    request: onList(RemoveSegmentIds, 'unlisted', null),
    emits: [
      {
        type: 'segment-updated',
        ...inShop,
        preData: { ...segmentNamed('unlisted'), ...emptyList },
        data: { ...segmentNamed('unlisted'), listChange: { added: 0, removed: 0 } },
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'creating a segment',
    request: createSegment('young'),
    emits: [{ type: 'segment-created', ...inShop, data: segmentNamed('young') }],
    repeated: 'is refused',
  },
  {
    write: 'updating a segment',
    given: createSegment('old'),
    request: sendComputed(UpdateSegment, async (features) => ({
      params: { id: await segmentId(features, 'old') },
      body: { name: 'old', description: 'Over 80.', project: 'shop', constraints: [] },
    })),
    emits: [
      {
        type: 'segment-updated',
        ...inShop,
        preData: segmentNamed('old'),
        data: segmentNamed('old', 'Over 80.'),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting a segment',
    given: createSegment('gone'),
    request: sendComputed(DeleteSegment, async (features) => ({ params: { id: await segmentId(features, 'gone') } })),
    emits: [{ type: 'segment-deleted', ...inShop, preData: segmentNamed('gone') }],
    repeated: 'is refused',
  },
  {
    write: 'setting the segments of a strategy',
    given: inOrder(createSegment('linked'), storedFeatures({ strategies: [strategy] })),
    request: sendComputed(SetStrategySegments, async (features) => ({
      body: {
        projectId: 'shop',
        environmentId: 'development',
        strategyId,
        segmentIds: [await segmentId(features, 'linked')],
      },
    })),
    emits: [
      developmentEvent('feature-strategy-update', {
        preData: strategy,
        data: { ...strategy, segments: [expect.any(Number)] },
      }),
    ],
    repeated: 'emits nothing',
  },
];
