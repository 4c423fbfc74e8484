import { implement } from '@bunting/bus';
import { ValidateConstraint } from '@bunting/contracts';
import { requireValidConstraint } from '../../domain/constraint.ts';
import type { FeaturesContext } from '../context.ts';

export const validateConstraintEndpoint = ({ contextFields: fields }: FeaturesContext) =>
  implement(ValidateConstraint, async ({ body }) => {
    requireValidConstraint(body, await fields.find(body.contextName));
    return null;
  });
