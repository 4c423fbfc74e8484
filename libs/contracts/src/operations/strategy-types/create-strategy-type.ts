import { CreateStrategyTypeBody, StrategyType } from '../../model/strategies/strategy-type.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a strategy type. Emits `strategy-created`. */
export const CreateStrategyType = defineOperation({
  subject: 'call.features.create-strategy-type',
  operationId: 'createStrategy',
  summary: 'Create a strategy type',
  description: 'Adds a strategy type that custom SDKs evaluate.',
  tag: 'Strategies',
  http: {
    method: 'POST',
    url: '/api/admin/strategies',
    status: 201,
    location: (_request: unknown, { name }: { name: string }) => `strategies/${encodeURIComponent(name)}`,
  },
  permission: 'CREATE_STRATEGY',
  body: CreateStrategyTypeBody,
  reply: StrategyType,
  errors: ['ValidationError', 'NameExistsError'],
});
