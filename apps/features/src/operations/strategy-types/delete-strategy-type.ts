import { implement } from '@bunting/bus';
import { DeleteStrategyType, refusal } from '@bunting/contracts';
import { formatReferences } from '../../domain/format-references.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { lockStrategyType, requireEditable } from './lock-strategy-type.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteStrategyType, (request) =>
    transaction(request, async (tx) => {
      authoriseAtRoot(request.caller, DeleteStrategyType.permission);
      const type = await lockStrategyType(tx, request.params.name);
      requireEditable(type);
      const { name } = type;
      const users = await tx.strategyTypes.usersOf(name);
      if (users.length > 0) {
        throw refusal(
          'ConflictError',
          `Strategy ${name} is in use by ${formatReferences(users, hiddenProjectsOf(request.caller))}`,
        );
      }
      await tx.strategyTypes.remove(name);
      tx.events.emit([{ type: 'strategy-deleted', data: { name } }]);
      return null;
    }),
  );
