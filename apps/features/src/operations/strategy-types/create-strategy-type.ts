import { implement } from '@bunting/bus';
import { CreateStrategyType, refusal } from '@bunting/contracts';
import { invalidValue } from '../../domain/refusals.ts';
import { publicStrategyType, strategyTypeAfter } from '../../domain/strategies/strategy-type.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

export const createStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateStrategyType, (request) =>
    transaction(request, async ({ strategyTypes, events }) => {
      const { name, ...content } = request.body;
      authoriseAtRoot(request.caller, CreateStrategyType.permission);
      if (name.trim() === '') throw invalidValue('not be empty', '/body/name', name);
      const blank = { title: null, description: null, parameters: [], builtIn: false, deprecated: false };
      const type = strategyTypeAfter({ name, ...blank }, content);
      if (!(await strategyTypes.add(type))) {
        throw refusal('NameExistsError', `Strategy with name ${name} already exist!`);
      }
      const data = publicStrategyType(type);
      events.emit([{ type: 'strategy-created', data }]);
      return data;
    }),
  );
