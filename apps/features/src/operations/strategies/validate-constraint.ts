import { implement } from '@bunting/bus';
import { ValidateConstraint } from '@bunting/contracts';
import { validateConstraint } from '../../domain/strategies/constraint.ts';
import type { FeaturesContext } from '../context.ts';

export const validateConstraintEndpoint = ({ contextFields, allowsRegex }: FeaturesContext) =>
  implement(ValidateConstraint, async ({ body }) => {
    validateConstraint(body, await contextFields.find(body.contextName), { allowsRegex, path: '/body' });
    return null;
  });
