import { implement } from '@bunting/bus';
import { ValidateConstraint } from '@bunting/contracts';
import { requireValidConstraint } from '../../domain/constraints/constraint.ts';
import type { FeaturesContext } from '../context.ts';

export const validateConstraintEndpoint = ({ contextFields }: FeaturesContext) =>
  implement(ValidateConstraint, async ({ body }) => {
    requireValidConstraint(body, await contextFields.find(body.contextName));
    return null;
  });
