import { Type } from 'typebox';
import { documentedOperands } from '../../constraint-operand.ts';
import { Constraint } from './constraint.ts';
import { notEmpty } from '../text-schemas.ts';

/** A constraint in a request: a context field, an operator, and the operand that the operator requires. */
export const ConstraintBody = Type.Object(
  {
    ...Constraint.properties,
    contextName: Type.String({
      ...notEmpty,
      description: 'the name of the context field that the constraint applies to',
    }),
  },
  {
    title: 'constraintBodySchema',
    description: 'A condition on a context field, with the operand that its operator takes.',
    additionalProperties: false,
    operand: true,
    documentedAnyOf: documentedOperands,
  },
);
