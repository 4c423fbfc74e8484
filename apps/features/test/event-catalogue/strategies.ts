import { AddStrategy, DeleteStrategy, PatchStrategy, SetStrategyOrder, UpdateStrategy } from '@bunting/contracts';
import { type CatalogueRow, send } from '../event-catalogue.ts';
import {
  developmentEvent,
  developmentPath,
  disabledStrategy,
  flexibleRollout,
  secondStrategy,
  secondStrategyId,
  storedFeatures,
  strategy,
  strategyId,
} from './fixtures.ts';

const strategyPath = { ...developmentPath, strategyId };

export const strategyRows: readonly CatalogueRow[] = [
  {
    write: 'adding a strategy',
    given: storedFeatures({}),
    request: send(AddStrategy, { params: developmentPath, body: { name: 'flexibleRollout' } }),
    emits: [developmentEvent('feature-strategy-add', { data: flexibleRollout('lamp') })],
    repeated: 'emits again',
  },
  {
    write: 'replacing a strategy',
    given: storedFeatures({ strategies: [strategy] }),
    request: send(UpdateStrategy, { params: strategyPath, body: { name: 'default', title: 'All', parameters: {} } }),
    emits: [developmentEvent('feature-strategy-update', { preData: strategy, data: { ...strategy, title: 'All' } })],
    repeated: 'emits nothing',
  },
  {
    write: 'patching a strategy',
    given: storedFeatures({ strategies: [strategy] }),
    request: send(PatchStrategy, { params: strategyPath, body: [{ op: 'replace', path: '/title', value: 'All' }] }),
    emits: [developmentEvent('feature-strategy-update', { preData: strategy, data: { ...strategy, title: 'All' } })],
    repeated: 'emits nothing',
  },
  {
    write: 'disabling the last active strategy of an enabled feature',
    given: storedFeatures({ enabled: true, strategies: [strategy] }),
    request: send(PatchStrategy, { params: strategyPath, body: [{ op: 'replace', path: '/disabled', value: true }] }),
    emits: [
      developmentEvent('feature-strategy-update', { preData: strategy, data: disabledStrategy }),
      developmentEvent('feature-environment-disabled'),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting the last strategy of an enabled feature',
    given: storedFeatures({ enabled: true, strategies: [strategy] }),
    request: send(DeleteStrategy, { params: strategyPath }),
    emits: [
      developmentEvent('feature-environment-disabled'),
      developmentEvent('feature-strategy-remove', { preData: strategy }),
    ],
    repeated: 'is refused',
  },
  {
    write: 'reordering strategies',
    given: storedFeatures({ strategies: [strategy, secondStrategy] }),
    request: send(SetStrategyOrder, { params: developmentPath, body: [{ id: strategyId, sortOrder: 7 }] }),
    emits: [
      developmentEvent('strategy-order-changed', {
        preData: { strategyIds: [strategyId, secondStrategyId] },
        data: { strategyIds: [secondStrategyId, strategyId] },
      }),
    ],
    repeated: 'emits nothing',
  },
];
