import { Type } from 'typebox';
import { documentedOperands } from '../constraint-operand.ts';
import { Constraint } from './constraint.ts';
import { notEmpty } from './patterns.ts';

/** A constraint as a request has it: it names a context field, and has the operand that its operator takes. */
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
