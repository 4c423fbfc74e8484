import {
  CreateStrategyType,
  DeleteStrategyType,
  DeprecateStrategyType,
  ReactivateStrategyType,
  UpdateStrategyType,
} from '@bunting/contracts';
import { type CatalogueRow, inOrder, send, type Step } from '../event-catalogue.ts';

const createStrategyType = (name: string): Step => send(CreateStrategyType, { body: { name, parameters: [] } });

/** A strategy type as events show it. */
const strategyTypeNamed = (name: string, description: string | null = null) => ({
  name,
  title: null,
  displayName: name,
  description,
  editable: true,
  deprecated: false,
  parameters: [],
});

export const strategyTypeRows: readonly CatalogueRow[] = [
  {
    write: 'creating a strategy type',
    request: createStrategyType('moon'),
    emits: [{ type: 'strategy-created', data: strategyTypeNamed('moon') }],
    repeated: 'is refused',
  },
  {
    write: 'updating a strategy type',
    given: createStrategyType('sun'),
    request: send(UpdateStrategyType, { params: { name: 'sun' }, body: { description: 'By day.', parameters: [] } }),
    emits: [{ type: 'strategy-updated', data: strategyTypeNamed('sun', 'By day.') }],
    repeated: 'emits nothing',
  },
  {
    write: 'deprecating a strategy type',
    given: createStrategyType('comet'),
    request: send(DeprecateStrategyType, { params: { name: 'comet' } }),
    emits: [{ type: 'strategy-deprecated', data: { name: 'comet' } }],
    repeated: 'emits nothing',
  },
  {
    write: 'reactivating a deprecated strategy type',
    given: inOrder(createStrategyType('halley'), send(DeprecateStrategyType, { params: { name: 'halley' } })),
    request: send(ReactivateStrategyType, { params: { name: 'halley' } }),
    emits: [{ type: 'strategy-reactivated', data: { name: 'halley' } }],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting a strategy type',
    given: createStrategyType('pluto'),
    request: send(DeleteStrategyType, { params: { name: 'pluto' } }),
    emits: [{ type: 'strategy-deleted', data: { name: 'pluto' } }],
    repeated: 'is refused',
  },
];
